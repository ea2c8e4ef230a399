import { SAML, ValidateInResponseTo } from '@node-saml/node-saml';
import { readAssertion, type Assertion, type Xml } from './assertion.ts';
import { refused } from './refused.ts';
import { checkResponse } from './response.ts';

/** Both ends of one tenant's single sign-on. */
export interface SsoEnds {
  /** Our entity id at the identity provider: the address of our metadata. */
  readonly entity_id: string;
  /** The address to which the identity provider sends its answers. */
  readonly acs_url: string;
  readonly idp_entity_id: string;
  readonly idp_sso_url: string;
  /** PEM; several during a certificate change of the provider. */
  readonly idp_certificates: readonly string[];
}

/** Our metadata for an identity provider, as XML. */
export const metadataOf = (ends: SsoEnds): string =>
  samlOf(ends).generateServiceProviderMetadata(null, null);

/** The address to which the browser is sent to log in; the answer must name `requestId`. */
export const loginUrl = (ends: SsoEnds, requestId: string, relayState: string): Promise<string> =>
  samlOf(ends, requestId).getAuthorizeUrlAsync(relayState, undefined, {});

/**
 * The assertion of a response, as received in `SAMLResponse`, or 401. The library verifies the signature over
 * the assertion and returns the signed part; everything is read from that part, with our own clock. The
 * caller checks that the login was begun here and that the assertion was not used before.
 */
export async function verifiedAssertion(
  ends: SsoEnds,
  encoded: string,
  nowMs: number,
): Promise<Assertion> {
  const { in_response_to } = await checkResponse(encoded, ends.acs_url);
  const signed = await signedAssertion(ends, encoded);
  const assertion = readAssertion(signed, {
    issuer: ends.idp_entity_id,
    audience: ends.entity_id,
    recipient: ends.acs_url,
    now_ms: nowMs,
  });
  if (assertion.in_response_to !== in_response_to) throw refused('it answers two requests');
  return assertion;
}

async function signedAssertion(ends: SsoEnds, encoded: string): Promise<Xml> {
  const answered = await samlOf(ends)
    .validatePostResponseAsync({ SAMLResponse: encoded })
    .catch(() => null);
  const document = answered?.profile?.getAssertion?.() as { Assertion?: Xml } | undefined;
  if (document?.Assertion === undefined) throw refused('its signature or its audience is wrong');
  return document.Assertion;
}

const samlOf = (ends: SsoEnds, requestId?: string): SAML =>
  new SAML({
    issuer: ends.entity_id,
    callbackUrl: ends.acs_url,
    entryPoint: ends.idp_sso_url,
    idpCert: [...ends.idp_certificates],
    audience: ends.entity_id,
    wantAssertionsSigned: true,
    wantAuthnResponseSigned: false,
    // We compare times and requests with our own clock and database.
    acceptedClockSkewMs: -1,
    validateInResponseTo: ValidateInResponseTo.never,
    disableRequestedAuthnContext: true,
    signatureAlgorithm: 'sha256',
    digestAlgorithm: 'sha256',
    ...(requestId === undefined ? {} : { generateUniqueId: () => requestId }),
  });
