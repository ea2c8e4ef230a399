import { refused } from './refused.ts';

/** The statements of an identity provider, read only from the part that its signature covers. */
export interface Assertion {
  readonly id: string;
  readonly in_response_to: string;
  /** The subject, as text. */
  readonly name_id: string;
  /** Attribute name → its first value. */
  readonly attributes: Readonly<Record<string, string>>;
  /** When it expires, in milliseconds since 1970. */
  readonly expires_at_ms: number;
}

/** Required issuer and recipient of an assertion. */
export interface Expected {
  readonly issuer: string;
  readonly audience: string;
  readonly recipient: string;
  readonly now_ms: number;
}

/** Allowed difference between the clocks of two companies (tenancy 14.5.6). */
const SKEW_MS = 60_000;
const BEARER = 'urn:oasis:names:tc:SAML:2.0:cm:bearer';

/** An element as xml2js returns it: attributes under `$`, text under `_`, children in lists by name. */
export interface Xml {
  readonly $?: Readonly<Record<string, string>>;
  readonly _?: string;
  readonly [child: string]: unknown;
}

/** The assertion's contents, or 401 with the condition that fails (tenancy S19). */
export function readAssertion(assertion: Xml, expected: Expected): Assertion {
  const id = assertion.$?.['ID'] ?? '';
  if (id === '') throw refused('the assertion has no ID');
  if (text(only(assertion, 'Issuer')) !== expected.issuer)
    throw refused('it is from another issuer');

  const conditions = only(assertion, 'Conditions');
  const conditionsEnd = withinTime(conditions, expected.now_ms);
  const audiences = children(conditions, 'AudienceRestriction');
  const isForUs = audiences.every((restriction) =>
    children(restriction, 'Audience').some((audience) => text(audience) === expected.audience),
  );
  if (audiences.length === 0 || !isForUs) throw refused('its audience is not this service');

  const subject = only(assertion, 'Subject');
  const confirmation = only(subject, 'SubjectConfirmation');
  if (confirmation.$?.['Method'] !== BEARER) throw refused('its subject is not confirmed');
  const data = only(confirmation, 'SubjectConfirmationData');
  if (data.$?.['Recipient'] !== expected.recipient)
    throw refused('its recipient is not this service');
  const in_response_to = data.$?.['InResponseTo'] ?? '';
  if (in_response_to === '') throw refused('no login requested it');
  const confirmationEnd = withinTime(data, expected.now_ms);
  only(assertion, 'AuthnStatement');

  return {
    id,
    in_response_to,
    name_id: text(only(subject, 'NameID')),
    attributes: attributesOf(assertion),
    expires_at_ms: Math.max(conditionsEnd, confirmationEnd) + SKEW_MS,
  };
}

/** The end of the element's validity. Refused before its start, after its end, and without an end. */
function withinTime(element: Xml, nowMs: number): number {
  const notBefore = element.$?.['NotBefore'];
  if (notBefore !== undefined && !(instantMs(notBefore) <= nowMs + SKEW_MS))
    throw refused('it is not valid yet');
  const end = instantMs(element.$?.['NotOnOrAfter'] ?? '');
  if (!(end > nowMs - SKEW_MS)) throw refused('it has expired');
  return end;
}

/** NaN if the value is not a UTC time. */
const instantMs = (value: string): number =>
  /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z$/.test(value) ? Date.parse(value) : Number.NaN;

function attributesOf(assertion: Xml): Record<string, string> {
  const attributes: Record<string, string> = Object.create(null) as Record<string, string>;
  for (const statement of children(assertion, 'AttributeStatement'))
    for (const attribute of children(statement, 'Attribute')) {
      const name = attribute.$?.['Name'] ?? '';
      if (name in attributes) throw refused(`the attribute ${name} occurs twice`);
      const [value] = children(attribute, 'AttributeValue');
      if (value !== undefined) attributes[name] = text(value);
    }
  return attributes;
}

const children = (element: Xml, name: string): readonly Xml[] =>
  (element[name] ?? []) as readonly Xml[];

function only(element: Xml, name: string): Xml {
  const [first, second] = children(element, name);
  if (first === undefined || second !== undefined) throw refused(`it must have one ${name}`);
  return first;
}

const text = (element: Xml): string => {
  const value = typeof element === 'string' ? element : element._;
  return typeof value === 'string' ? value.trim() : '';
};
