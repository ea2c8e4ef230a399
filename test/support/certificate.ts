import { generateKeyPairSync, sign, type KeyObject } from 'node:crypto';

export interface TestKey {
  readonly privateKey: string;
  readonly certificate: string;
}

/** An RSA key with a self-signed certificate around it, in PEM. The certificate has no other content. */
export function createTestKey(): TestKey {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const certificate = selfSigned(privateKey, publicKey);
  const pem = certificate.toString('base64').replace(/.{1,64}/g, '$&\n');
  return {
    privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
    certificate: `-----BEGIN CERTIFICATE-----\n${pem}-----END CERTIFICATE-----\n`,
  };
}

/** X.509 v1 in DER: serial, algorithm, names, validity, key; then the signature over all of it. */
function selfSigned(privateKey: KeyObject, publicKey: KeyObject): Buffer {
  const sha256WithRsa = der(0x30, [
    Buffer.from('06092a864886f70d01010b', 'hex'),
    Buffer.from('0500', 'hex'),
  ]);
  const commonName = der(0x30, [Buffer.from('0603550403', 'hex'), der(0x0c, [Buffer.from('idp')])]);
  const name = der(0x30, [der(0x31, [commonName])]);
  const time = (text: string) => der(0x17, [Buffer.from(text)]);
  const body = der(0x30, [
    Buffer.from('020101', 'hex'),
    sha256WithRsa,
    name,
    der(0x30, [time('200101000000Z'), time('491231235959Z')]),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
  ]);
  const signature = Buffer.concat([Buffer.from([0]), sign('sha256', body, privateKey)]);
  return der(0x30, [body, sha256WithRsa, der(0x03, [signature])]);
}

function der(tag: number, parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff]; // prettier-ignore
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}
