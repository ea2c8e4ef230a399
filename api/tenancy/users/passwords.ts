import { randomInt } from 'node:crypto';
import { hash, verify } from '@node-rs/argon2';
import { invalidField } from '../../../domain/errors.ts';

/** argon2id with 19 MiB and two passes: about 50 ms on a separate thread (tenancy S4). */
const COST = { memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;

export const hashPassword = (password: string): Promise<string> => hash(password, COST);

/**
 * A hash that matches no password, at the cost of every other: an unknown address must not be answered faster
 * than a known one.
 */
export const NOBODYS_HASH =
  '$argon2id$v=19$m=19456,t=2,p=1$DJ68RdzVx9ChndmZrEgEdQ$H8jym3Y8hONxSj0yNc4lP2WsfbzHOADYeXi0jZb+PDI';

/** 400 for a password that is the account's e-mail address: it is the first that others try. */
export function assertNotAddress(password: string, email: string, field: string): void {
  if (password.trim().toLowerCase() === email.trim().toLowerCase())
    throw invalidField(field, 'must differ from the e-mail address of the account');
}

/** False for an account without a password, after the same work. */
export async function isPassword(passwordHash: string | null, password: string): Promise<boolean> {
  const matches = await verify(passwordHash ?? NOBODYS_HASH, password);
  return matches && passwordHash !== null;
}

const LETTERS = 'abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ';
const DIGITS = '23456789';
const SYMBOLS = '!#%+-=?@_';

/** A first password of 20 characters, including four digits and two symbols (tenancy 14.2.1). */
export function firstPassword(): string {
  const pick = (set: string, count: number): string[] =>
    Array.from({ length: count }, () => set[randomInt(set.length)]!);
  const characters = [...pick(LETTERS, 14), ...pick(DIGITS, 4), ...pick(SYMBOLS, 2)];
  for (let index = characters.length - 1; index > 0; index -= 1) {
    const other = randomInt(index + 1);
    [characters[index], characters[other]] = [characters[other]!, characters[index]!];
  }
  return characters.join('');
}
