import { SAML, ValidateInResponseTo } from '@node-saml/node-saml';
import { readAssertion, type Assertion, type Xml } from './assertion.ts';
import { refused } from './refused.ts';
import { checkResponse } from './response.ts';

/** The two ends of one tenant's single sign-on. */
export interface SsoEnds {
  /** Our name at the identity provider: the address of our metadata. */
  readonly entity_id: string;
  /** Where it sends its answers. */
  readonly acs_url: string;
  readonly idp_entity_id: string;
  readonly idp_sso_url: string;
  /** PEM; several while the provider changes from one to the next. */
  readonly idp_certificates: readonly string[];
}

/** What we tell an identity provider of ourselves, as XML. */
export const metadataOf = (ends: SsoEnds): string =>
  samlOf(ends).generateServiceProviderMetadata(null, null);

/** Where the browser is sent to log in; the answer has to name `requestId`. */
export const loginUrl = (ends: SsoEnds, requestId: string, relayState: string): Promise<string> =>
  samlOf(ends, requestId).getAuthorizeUrlAsync(relayState, undefined, {});

/**
 * The assertion of a response, as it stood in `SAMLResponse`, or 401. The library verifies the
 * signature over the assertion and gives back what it covers; everything is read from there, by our
 * own clock. Whether the login was begun here, and whether the assertion was shown before, is the
 * caller's to ask.
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
    // Times and requests are compared with our clock and our database.
    acceptedClockSkewMs: -1,
    validateInResponseTo: ValidateInResponseTo.never,
    disableRequestedAuthnContext: true,
    signatureAlgorithm: 'sha256',
    digestAlgorithm: 'sha256',
    ...(requestId === undefined ? {} : { generateUniqueId: () => requestId }),
  });
