import { X509Certificate } from 'node:crypto';

const PEM = /-----BEGIN CERTIFICATE-----([A-Za-z0-9+/=\s]+)-----END CERTIFICATE-----/g;

/**
 * The certificates in a text as PEM, each in lines of 64 characters. The text is a sequence of PEM blocks,
 * or one certificate as bare base64, as in metadata files. Null when a part is not a certificate.
 */
export function certificatesOf(text: string): string[] | null {
  const rest = text.replace(PEM, '').trim();
  const blocks = [...text.matchAll(PEM)].map((match) => match[1]!);
  if (blocks.length > 0 ? rest !== '' : !/^[A-Za-z0-9+/=\s]+$/.test(rest)) return null;
  try {
    return (blocks.length > 0 ? blocks : [rest]).map((base64) =>
      new X509Certificate(Buffer.from(base64.replace(/\s/g, ''), 'base64')).toString(),
    );
  } catch {
    return null;
  }
}
