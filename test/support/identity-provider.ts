import { SignedXml } from 'xml-crypto';
import { createTestKey, type TestKey } from './certificate.ts';

export const IDP_ENTITY_ID = 'https://idp.example.test/metadata';

const EXCLUSIVE = 'http://www.w3.org/2001/10/xml-exc-c14n#';
const ENVELOPED = 'http://www.w3.org/2000/09/xmldsig#enveloped-signature';
export const SHA256 = {
  signature: 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256',
  digest: 'http://www.w3.org/2001/04/xmlenc#sha256',
};
export const SHA1 = {
  signature: 'http://www.w3.org/2000/09/xmldsig#rsa-sha1',
  digest: 'http://www.w3.org/2000/09/xmldsig#sha1',
};

/** The content of a response of the provider; a test changes the fields that it wants to forge. */
export interface ResponseFacts {
  readonly requestId: string;
  readonly acsUrl: string;
  readonly entityId: string;
  readonly email: string;
  readonly nowMs: number;
  readonly destination?: string;
  readonly recipient?: string;
  readonly audience?: string;
  readonly issuer?: string;
  readonly outerRequestId?: string;
  readonly assertionId?: string;
  readonly notBeforeMs?: number;
  readonly notOnOrAfterMs?: number;
  readonly status?: string;
  readonly method?: string;
  readonly attributes?: string;
  readonly key?: TestKey;
  readonly algorithms?: typeof SHA256;
  readonly signed?: readonly ('assertion' | 'response')[];
}

const KEY = createTestKey();
export const IDP_CERTIFICATE = KEY.certificate;

let assertions = 0;

/** The XML of a response, signed as asked for: the assertion, when nothing is said. */
export function responseXml(facts: ResponseFacts): string {
  const iso = (ms: number): string => new Date(ms).toISOString();
  const { nowMs, key = KEY, algorithms = SHA256 } = facts;
  const id = facts.assertionId ?? `_a${(assertions += 1)}`;
  const end = iso(facts.notOnOrAfterMs ?? nowMs + 300_000);
  const begin = iso(facts.notBeforeMs ?? nowMs - 1_000);
  const issuer = `<saml:Issuer>${facts.issuer ?? IDP_ENTITY_ID}</saml:Issuer>`;
  const assertion =
    `<saml:Assertion xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion" ID="${id}" Version="2.0" IssueInstant="${iso(nowMs)}">${issuer}` +
    `<saml:Subject><saml:NameID Format="urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress">${facts.email}</saml:NameID>` +
    `<saml:SubjectConfirmation Method="urn:oasis:names:tc:SAML:2.0:cm:${facts.method ?? 'bearer'}">` +
    `<saml:SubjectConfirmationData InResponseTo="${facts.requestId}" NotOnOrAfter="${end}" Recipient="${facts.recipient ?? facts.acsUrl}"/>` +
    `</saml:SubjectConfirmation></saml:Subject>` +
    `<saml:Conditions NotBefore="${begin}" NotOnOrAfter="${end}"><saml:AudienceRestriction>` +
    `<saml:Audience>${facts.audience ?? facts.entityId}</saml:Audience></saml:AudienceRestriction></saml:Conditions>` +
    `<saml:AuthnStatement AuthnInstant="${iso(nowMs)}"><saml:AuthnContext><saml:AuthnContextClassRef>` +
    `urn:oasis:names:tc:SAML:2.0:ac:classes:Password</saml:AuthnContextClassRef></saml:AuthnContext></saml:AuthnStatement>` +
    `${facts.attributes === undefined ? '' : `<saml:AttributeStatement>${facts.attributes}</saml:AttributeStatement>`}</saml:Assertion>`;
  let xml =
    `<samlp:Response xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol" ID="_r${id}" Version="2.0" IssueInstant="${iso(nowMs)}"` +
    ` Destination="${facts.destination ?? facts.acsUrl}" InResponseTo="${facts.outerRequestId ?? facts.requestId}">` +
    `<saml:Issuer xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion">${facts.issuer ?? IDP_ENTITY_ID}</saml:Issuer>` +
    `<samlp:Status><samlp:StatusCode Value="urn:oasis:names:tc:SAML:2.0:status:${facts.status ?? 'Success'}"/></samlp:Status>` +
    `${assertion}</samlp:Response>`;
  const signed = facts.signed ?? ['assertion'];
  if (signed.includes('assertion')) xml = signedAt(xml, id, key, algorithms);
  if (signed.includes('response')) xml = signedAt(xml, `_r${id}`, key, algorithms);
  return xml;
}

export const encoded = (xml: string): string => Buffer.from(xml).toString('base64');

function signedAt(xml: string, id: string, key: TestKey, algorithms: typeof SHA256): string {
  const signer = new SignedXml({
    privateKey: key.privateKey,
    signatureAlgorithm: algorithms.signature,
    canonicalizationAlgorithm: EXCLUSIVE,
  });
  const xpath = `//*[@ID='${id}']`;
  signer.addReference({
    xpath,
    transforms: [ENVELOPED, EXCLUSIVE],
    digestAlgorithm: algorithms.digest,
  });
  const reference = `${xpath}/*[local-name(.)='Issuer']`;
  signer.computeSignature(xml, { location: { reference, action: 'after' } });
  return signer.getSignedXml();
}
