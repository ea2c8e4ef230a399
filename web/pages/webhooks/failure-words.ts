/** Beginnings of sentences for what a connection reports, by a part of its text. */
const KNOWN: readonly (readonly [RegExp, string])[] = [
  [/ENOTFOUND|EAI_AGAIN/, 'The host name was not found'],
  [/ECONNREFUSED/, 'The connection was refused'],
  [/ECONNRESET|EPIPE|socket hang up/, 'The connection was closed without an answer'],
  [/EHOSTUNREACH|ENETUNREACH/, 'The host cannot be reached'],
  [/ETIMEDOUT|timed? ?out/i, 'No answer in time'],
  [/certificate|CERT_/i, 'The certificate is not valid'],
];

/** Why a notification got no answer, in words; texts that are words already stay as they are. */
export function failureWords(error: string | null): string {
  if (error === null) return 'No answer';
  const words = KNOWN.find(([pattern]) => pattern.test(error))?.[1] ?? error;
  return words.charAt(0).toUpperCase() + words.slice(1);
}
