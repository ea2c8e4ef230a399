import { createHmac, timingSafeEqual } from 'node:crypto';
import { BillingError } from '../../domain/errors.ts';

/** Maximum age of a signed request. */
const TOLERANCE_MS = 5 * 60 * 1000;

/** `t=<seconds>,v1=<hmac>` over the time and the raw bytes. */
export function signEvent(secret: string, raw: Buffer, nowMs: number): string {
  const seconds = Math.floor(nowMs / 1000);
  return `t=${seconds},v1=${digest(secret, String(seconds), raw)}`;
}

/** Throws 401 unless the header is a signature of these bytes with the secret, at most five minutes old. */
export function assertSigned(
  secret: string | null,
  raw: Buffer,
  header: string | string[] | undefined,
  nowMs: number,
): void {
  const parts = new Map(
    (typeof header === 'string' ? header.slice(0, 500) : '')
      .split(',')
      .map((part) => part.split('=') as [string, string]),
  );
  const seconds = parts.get('t') ?? '';
  const given = Buffer.from(parts.get('v1') ?? '');
  const isTimely =
    /^\d{1,12}$/.test(seconds) && Math.abs(nowMs - Number(seconds) * 1000) <= TOLERANCE_MS;
  const expected = Buffer.from(digest(secret ?? '', seconds, raw));
  const isEqual = given.length === expected.length && timingSafeEqual(given, expected);
  if (secret === null || secret === '' || !isTimely || !isEqual) throw badSignature();
}

export const badSignature = (): BillingError =>
  new BillingError(
    'unauthenticated',
    'unauthenticated',
    'The signature of the event is not valid.',
  );

const digest = (secret: string, seconds: string, raw: Buffer): string =>
  createHmac('sha256', secret).update(`${seconds}.`).update(raw).digest('hex');
