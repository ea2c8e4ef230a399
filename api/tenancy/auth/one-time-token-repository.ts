import { createHash, randomBytes } from 'node:crypto';
import { invalidField } from '../../../domain/errors.ts';
import { isoTime } from '../../../platform/clock.ts';
import type { Db } from '../../../postgres/client.ts';
import { columnsOf } from '../../../postgres/parameters.ts';

const HOUR_MS = 3_600_000;

/** Lifetime of a token, by the way it was issued. */
const LIFE_MS = {
  email: HOUR_MS,
  invitation: 7 * 24 * HOUR_MS,
  operator: 24 * HOUR_MS,
  first_start: 24 * HOUR_MS,
} as const;
export type TokenOrigin = keyof typeof LIFE_MS;

/** An address can be verified as long as the sign-up is pending. */
export const SIGN_UP_MS = 24 * HOUR_MS;

interface TokenRow {
  readonly origin: TokenOrigin;
  readonly sign_up_id: string | null;
  readonly tenant_id: string | null;
  readonly user_id: string | null;
}

/** A token that sets the person's password, once. Earlier tokens stay valid until one of them is used. */
export function makePasswordToken(
  db: Db,
  user: { readonly id: string; readonly tenant_id: string },
  origin: TokenOrigin,
  nowMs: number,
): Promise<string> {
  const { id: user_id, tenant_id } = user;
  const row = { purpose: 'password', origin, tenant_id, user_id, sign_up_id: null };
  return insertToken(db, 'reset', row, nowMs, LIFE_MS[origin]);
}

/** A token that verifies the address of a sign-up. */
export function makeSignUpToken(db: Db, sign_up_id: string, nowMs: number): Promise<string> {
  const nobody = { tenant_id: null, user_id: null };
  const row = { purpose: 'sign_up', origin: 'email', ...nobody, sign_up_id };
  return insertToken(db, 'verify', row, nowMs, SIGN_UP_MS);
}

async function insertToken(
  db: Db,
  prefix: string,
  row: object,
  nowMs: number,
  lifeMs: number,
): Promise<string> {
  const token = `${prefix}_${randomBytes(32).toString('base64url')}`;
  await db`insert into one_time_tokens ${columnsOf(db, {
    ...row,
    token_hash: hashOf(token),
    expires_at: isoTime(nowMs + lifeMs),
    created_at: isoTime(nowMs),
  })}`;
  return token;
}

/** The purpose of the token; null if it is unknown, used or expired. */
export async function findToken(
  db: Db,
  purpose: 'sign_up' | 'password',
  token: string,
  nowMs: number,
): Promise<TokenRow | null> {
  const [row] = await db<TokenRow[]>`
    select origin, sign_up_id, tenant_id, user_id from one_time_tokens
     where token_hash = ${hashOf(token)} and purpose = ${purpose} and expires_at > ${isoTime(nowMs)}`;
  return row ?? null;
}

/** The same, and marks the token as used: of two concurrent callers one gets it. */
export async function takeToken(
  db: Db,
  purpose: 'sign_up' | 'password',
  token: string,
  nowMs: number,
): Promise<TokenRow | null> {
  const [row] = await db<TokenRow[]>`
    delete from one_time_tokens
     where token_hash = ${hashOf(token)} and purpose = ${purpose} and expires_at > ${isoTime(nowMs)}
    returning origin, sign_up_id, tenant_id, user_id`;
  return row ?? null;
}

/** Invalidates all other password tokens after a new password. */
export async function forgetPasswordTokens(db: Db, userId: string): Promise<void> {
  await db`delete from one_time_tokens where user_id = ${userId}`;
}

/** 400: no token of this text is valid. */
export const tokenRefused = () =>
  invalidField('token', 'is unknown, was used or has expired; ask for a new one');

const hashOf = (token: string): Buffer => createHash('sha256').update(token).digest();
