import { createHash } from 'node:crypto';
import { BillingError } from '../../../domain/errors.ts';
import { isoTime } from '../../../platform/clock.ts';
import type { ApiDeps } from '../../deps.ts';

const WINDOW_MS = 15 * 60_000;
/** Of one address from one place; of one address from anywhere; from one place on any address. */
const FAILURES_MAX = { pair: 10, account: 100, place: 500 } as const;

type Deps = Pick<ApiDeps, 'pool' | 'clock'>;

/** What is counted, under hashes: no address book of those who mistyped. */
export interface LoginSubjects {
  readonly pair: Buffer;
  readonly account: Buffer;
  readonly place: Buffer;
}

export const loginSubjects = (email: string, ip: string): LoginSubjects => ({
  pair: hashOf(`${email} ${ip}`),
  account: hashOf(`account ${email}`),
  place: hashOf(`place ${ip}`),
});

/**
 * Counts a login as failed before its password is looked at, so that a hundred at once are a hundred; 429
 * when that would be one too many (money-semantics 14.5.4). `forgiveLogin` takes it back.
 */
export async function countLogin({ pool, clock }: Deps, subjects: LoginSubjects): Promise<void> {
  const since = isoTime(clock.now() - WINDOW_MS);
  const failed_at = isoTime(clock.now());
  // One order for everybody: two logins never wait for each other.
  const all = Object.values(subjects).sort(Buffer.compare) as Buffer[];
  await pool.begin(async (tx) => {
    for (const subject of all)
      await tx`select pg_advisory_xact_lock(${subject.readBigInt64BE().toString()}::bigint)`;
    await tx`delete from login_failures where subject in ${tx(all)} and failed_at <= ${since}`;
    const rows = await tx<{ subject: Buffer; count: number }[]>`
      select subject, count(*)::int as count from login_failures
       where subject in ${tx(all)} group by subject`;
    for (const [kind, max] of Object.entries(FAILURES_MAX)) {
      const { count } = rows.find(({ subject }) =>
        subject.equals(subjects[kind as keyof LoginSubjects]),
      ) ?? { count: 0 };
      if (count >= max) throw lockedOut();
    }
    await tx`insert into login_failures ${tx(all.map((subject) => ({ subject, failed_at })))}`;
  });
}

/** After a right password: the address starts again, the place has this one taken back. */
export async function forgiveLogin({ pool }: Deps, subjects: LoginSubjects): Promise<void> {
  const { pair, account, place } = subjects;
  await pool`delete from login_failures where subject in ${pool([pair, account])}`;
  await pool`
    delete from login_failures
     where ctid = (select ctid from login_failures where subject = ${place} limit 1)`;
}

const hashOf = (text: string): Buffer => createHash('sha256').update(text).digest();

const lockedOut = (): BillingError =>
  new BillingError(
    'rate_limited',
    'too_many_requests',
    'Too many failed logins. Try again in 15 minutes.',
  );
