import { invalidField } from '../errors.ts';

const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]']);

/**
 * Refuses an address to which a payment page must not lead back: only https, or http on this machine; no
 * credentials in it. With `origins`, only these origins (money 15.5): a page never becomes an open redirect.
 */
export function assertReturnAddress(
  field: string,
  address: string,
  origins: readonly string[],
): void {
  if (!URL.canParse(address)) throw invalidField(field, 'must be an absolute address');
  const { protocol, hostname, origin, username, password } = new URL(address);
  if (protocol !== 'https:' && !(protocol === 'http:' && LOOPBACK.has(hostname)))
    throw invalidField(field, 'must begin with https://');
  if (username !== '' || password !== '')
    throw invalidField(field, 'must not contain a user name or a password');
  if (origins.length > 0 && !origins.includes(origin))
    throw invalidField(
      field,
      `${origin} is not one of return_origins in the setting checkout_config`,
    );
}
