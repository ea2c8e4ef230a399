import { X509Certificate } from 'node:crypto';

const PEM = /-----BEGIN CERTIFICATE-----([A-Za-z0-9+/=\s]+)-----END CERTIFICATE-----/g;

/**
 * The certificates of a text as PEM, each on lines of 64: PEM blocks one after another, or one
 * certificate as bare base64, as metadata files have it. Null when something in it is no certificate.
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
