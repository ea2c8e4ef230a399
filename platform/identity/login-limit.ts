import { createHash } from 'node:crypto';
import {
  ACCOUNT_FREE_FAILURES,
  ACCOUNT_WINDOW_MS,
  accountWaitMs,
  EMAIL_REQUESTS_MAX,
  FAILURES_MAX,
  KNOWN_NETWORK_MS,
  NOTED_ANSWERS_MAX,
  WINDOW_MS,
} from '../../domain/access/login-limits.ts';
import { BillingError } from '../../domain/errors.ts';
import { isoTime, type Clock } from '../clock.ts';
import { networkOf } from '../network.ts';
import type { Pool, Transaction } from '../../postgres/client.ts';

/** What is counted. Stored as hashes, so that the table is not a list of e-mail addresses. */
export interface LoginSubjects {
  /** One account from one network. */
  readonly pair: Buffer;
  /** One account, from networks that it has not logged in from before. */
  readonly account: Buffer;
  /** One network. */
  readonly place: Buffer;
}

/** An IPv6 network counts as one, because the owner of one address in it has all of them. */
export function loginSubjects(email: string, ip: string): LoginSubjects {
  const account = email.toLowerCase();
  const network = networkOf(ip);
  return {
    pair: hashOf(`${account} ${network}`),
    account: hashOf(`account ${account}`),
    place: hashOf(`place ${network}`),
  };
}

/** The limit that this failure has reached; null if none. */
export type LimitReached = 'network' | 'account' | null;

/** Slows down password guessing. Failures of accounts that do not exist count in the same way. */
export interface LoginLimit {
  /**
   * Counts a login as failed before its password is checked, so that a hundred parallel attempts count as a
   * hundred; 429 when that exceeds the limit (tenancy 14.5.4). `forgive` undoes the count.
   */
  count(subjects: LoginSubjects): Promise<LimitReached>;
  /**
   * After a correct password: resets the count of the network with this account, and marks the network as
   * known.
   */
  forgive(subjects: LoginSubjects): Promise<void>;
  /** Counts a request that sends an e-mail; 429 when the network has made too many. */
  countEmailRequest(ip: string): Promise<void>;
  /**
   * Counts a refused answer of a tenant's identity provider. False if the tenant, or the network with this
   * tenant, has had so many that no more reach the audit log: anyone can send such answers.
   */
  countRefusedAnswer(tenantId: string, ip: string): Promise<boolean>;
}

/** `pool` works across tenants: at this point the account, and whether it exists, is unknown. */
export function createLoginLimit({ pool, clock }: { pool: Pool; clock: Clock }): LoginLimit {
  const ago = (ms: number): string => isoTime(clock.now() - ms);
  return {
    count: (subjects) =>
      pool.begin(async (tx) => {
        const all = Object.values(subjects) as Buffer[];
        const counts = await countsOf(tx, all, ago);
        const of = (subject: Buffer): Failures => counts.get(subject.toString('hex')) ?? NONE;
        const [known] = await tx`
          select 1 from known_networks
           where subject = ${subjects.pair} and seen_at > ${ago(KNOWN_NETWORK_MS)}`;
        const [pair, place] = [of(subjects.pair), of(subjects.place)];
        for (const [failures, max] of [
          [pair, FAILURES_MAX.pair],
          [place, FAILURES_MAX.place],
        ] as const)
          if (failures.recent >= max)
            throw tooMany(Date.parse(failures.oldest!) + WINDOW_MS - clock.now());
        const account = of(subjects.account);
        const sinceLastMs = clock.now() - Date.parse(account.newest ?? isoTime(0));
        const waitMs = known === undefined ? accountWaitMs(account.hour, sinceLastMs) : 0;
        if (waitMs > 0) throw tooMany(waitMs);
        const { account: _bypassed, ...withoutAccount } = subjects;
        const counted = Object.values(known === undefined ? subjects : withoutAccount);
        await insertFailures(tx, counted as Buffer[], ago(0));
        if (pair.recent + 1 === FAILURES_MAX.pair) return 'network';
        const reached = known === undefined && account.hour + 1 === ACCOUNT_FREE_FAILURES;
        return reached ? 'account' : null;
      }),

    forgive: ({ pair, account, place }) =>
      pool.begin(async (tx) => {
        await tx`delete from login_failures where subject = ${pair}`;
        for (const subject of [account, place])
          await tx`
            delete from login_failures
             where ctid = (select ctid from login_failures
                            where subject = ${subject} order by failed_at desc limit 1)`;
        await tx`
          insert into known_networks ${tx({ subject: pair, seen_at: ago(0) })}
          on conflict (subject) do update set seen_at = excluded.seen_at`;
      }),

    countEmailRequest: (ip) =>
      pool.begin(async (tx) => {
        const subject = hashOf(`e-mails ${networkOf(ip)}`);
        const counts = await countsOf(tx, [subject], ago);
        const { recent, oldest } = counts.get(subject.toString('hex')) ?? NONE;
        if (recent >= EMAIL_REQUESTS_MAX)
          throw tooMany(Date.parse(oldest!) + WINDOW_MS - clock.now());
        await insertFailures(tx, [subject], ago(0));
      }),

    countRefusedAnswer: (tenantId, ip) =>
      pool.begin(async (tx) => {
        const tenant = hashOf(`answers ${tenantId}`);
        const network = hashOf(`answers ${tenantId} ${networkOf(ip)}`);
        const counts = await countsOf(tx, [tenant, network], ago);
        const recent = (subject: Buffer): number =>
          counts.get(subject.toString('hex'))?.recent ?? 0;
        if (recent(network) >= NOTED_ANSWERS_MAX.network) return false;
        if (recent(tenant) >= NOTED_ANSWERS_MAX.tenant) return false;
        await insertFailures(tx, [tenant, network], ago(0));
        return true;
      }),
  };
}

interface Failures {
  readonly recent: number;
  /** Oldest of the recent ones. */
  readonly oldest: string | null;
  readonly hour: number;
  readonly newest: string | null;
}
const NONE: Failures = { recent: 0, oldest: null, hour: 0, newest: null };

/** Counts by subject in hex. Locks the subjects until the transaction ends, always in the same order. */
async function countsOf(
  tx: Transaction,
  subjects: readonly Buffer[],
  ago: (ms: number) => string,
): Promise<Map<string, Failures>> {
  const all = [...subjects].sort(Buffer.compare);
  for (const subject of all)
    await tx`select pg_advisory_xact_lock(${subject.readBigInt64BE().toString()}::bigint)`;
  await tx`
    delete from login_failures where subject in ${tx(all)} and failed_at <= ${ago(ACCOUNT_WINDOW_MS)}`;
  const rows = await tx<(Failures & { readonly subject: Buffer })[]>`
    select subject, count(*)::int as hour, max(failed_at) as newest,
           (count(*) filter (where failed_at > ${ago(WINDOW_MS)}))::int as recent,
           min(failed_at) filter (where failed_at > ${ago(WINDOW_MS)}) as oldest
      from login_failures
     where subject in ${tx(all)} group by subject`;
  return new Map(rows.map(({ subject, ...failures }) => [subject.toString('hex'), failures]));
}

async function insertFailures(
  tx: Transaction,
  subjects: readonly Buffer[],
  failed_at: string,
): Promise<void> {
  await tx`insert into login_failures ${tx(subjects.map((subject) => ({ subject, failed_at })))}`;
}

const hashOf = (text: string): Buffer => createHash('sha256').update(text).digest();

function tooMany(waitMs: number): BillingError {
  const seconds = Math.max(1, Math.ceil(waitMs / 1000));
  const message = `Too many attempts. Try again in ${seconds} seconds.`;
  return new BillingError('rate_limited', 'too_many_requests', message, [], 0, seconds);
}
