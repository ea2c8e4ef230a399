import { isUtf8 } from 'node:buffer';
import { Parser, processors } from 'xml2js';
import { refused } from './refused.ts';

/** The parts of a response outside of its assertion, which the assertion's signature does not cover. */
export interface ResponseFrame {
  readonly in_response_to: string;
}

export const RESPONSE_BYTES_MAX = 256 * 1024;

const SUCCESS = 'urn:oasis:names:tc:SAML:2.0:status:Success';
const EXCLUSIVE = 'http://www.w3.org/2001/10/xml-exc-c14n#';
const INCLUSIVE = 'http://www.w3.org/TR/2001/REC-xml-c14n-20010315';
/** No SHA-1, and no HMAC: a public certificate could be used as its key. */
const ALGORITHMS: Readonly<Record<string, readonly string[]>> = {
  SignatureMethod: [
    'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256',
    'http://www.w3.org/2001/04/xmldsig-more#rsa-sha512',
  ],
  DigestMethod: [
    'http://www.w3.org/2001/04/xmlenc#sha256',
    'http://www.w3.org/2001/04/xmlenc#sha512',
  ],
  CanonicalizationMethod: [EXCLUSIVE, INCLUSIVE],
  Transform: ['http://www.w3.org/2000/09/xmldsig#enveloped-signature', EXCLUSIVE, INCLUSIVE],
};

/**
 * Refuses every response that differs from what identity providers send. Required: one XML document without
 * document type, entities, comments, processing instructions and CDATA; one success with one assertion, both
 * in their place and the assertion signed; unique ids; known algorithms only; addressed to us. After this
 * check, the verified document has only one reading (tenancy S19).
 */
export async function checkResponse(encoded: string, destination: string): Promise<ResponseFrame> {
  const root = await parsed(decoded(encoded));
  if (root.name !== 'Response') throw refused('it is not a SAML response');
  const all = [...elementsOf(root)];

  const ids = all.flatMap((element) => element.attributes['ID'] ?? []);
  if (new Set(ids).size !== ids.length) throw refused('an ID occurs twice');
  const assertions = all.filter(({ name }) => /^(Encrypted)?Assertion$/.test(name));
  const [assertion] = assertions;
  if (assertions.length !== 1 || assertion?.name !== 'Assertion' || assertion.parent !== root)
    throw refused('it must have exactly one assertion, directly and not encrypted');
  for (const signature of all.filter(({ name }) => name === 'Signature'))
    if (signature.parent !== root && signature.parent !== assertion)
      throw refused('a signature is at a place other than the assertion');
  if (assertion.children.filter(({ name }) => name === 'Signature').length !== 1)
    throw refused('the assertion is not signed');
  for (const { name, attributes } of all) {
    const known = ALGORITHMS[name];
    if (known !== undefined && !known.includes(attributes['Algorithm'] ?? ''))
      throw refused(`the algorithm of ${name} is not accepted`);
  }

  const status = root.children.find(({ name }) => name === 'Status')?.children[0];
  if (status?.attributes['Value'] !== SUCCESS) throw refused('it does not report success');
  if (root.attributes['Destination'] !== destination)
    throw refused('its destination is not this service');
  const in_response_to = root.attributes['InResponseTo'] ?? '';
  if (in_response_to === '') throw refused('no login requested it');
  return { in_response_to };
}

function decoded(encoded: string): string {
  if (encoded.length > RESPONSE_BYTES_MAX) throw refused('it is larger than 256 KiB');
  const compact = encoded.replace(/\s/g, '');
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(compact)) throw refused('it is not base64');
  const bytes = Buffer.from(compact, 'base64');
  if (!isUtf8(bytes)) throw refused('it is not UTF-8');
  const text = bytes.toString('utf8').replace(/^\uFEFF?\s*<\?xml\s[^?<>]*\?>/, '');
  if (/<[!?]/.test(text)) throw refused('it has a document type, a comment or an instruction');
  return text;
}

interface Element {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly parent: Element | null;
  readonly children: readonly Element[];
}

interface Node {
  readonly '#name': string;
  readonly $?: Readonly<Record<string, string>>;
  readonly $$?: readonly Node[];
}

async function parsed(xml: string): Promise<Element> {
  const parser = new Parser({
    explicitChildren: true,
    preserveChildrenOrder: true,
    explicitRoot: false,
    tagNameProcessors: [processors.stripPrefix],
  });
  const root = await (parser.parseStringPromise(xml) as Promise<Node | null>).catch(() => null);
  if (root === null || typeof root !== 'object') throw refused('it is not readable XML');
  return elementOf(root, null);
}

const DEPTH_MAX = 32;

function elementOf(node: Node, parent: Element | null, depth = 0): Element {
  if (depth > DEPTH_MAX) throw refused('it is nested too deeply');
  const children: Element[] = [];
  const element: Element = {
    name: node['#name'],
    attributes: node.$ ?? {},
    parent,
    children,
  };
  for (const child of node.$$ ?? []) children.push(elementOf(child, element, depth + 1));
  return element;
}

function* elementsOf(element: Element): Generator<Element> {
  yield element;
  for (const child of element.children) yield* elementsOf(child);
}
