import { isoTime } from '../../../platform/clock.ts';
import type { Db, Scope, Transaction } from '../../../postgres/client.ts';
import { EnvironmentSeed, type SeedEnvironmentBody } from '../../../schemas/environment-seed.ts';
import { picked } from '../../conventions/picked.ts';

/** A row that was not renewed for this long has lost its process. */
const SILENT_MS_MAX = 120_000;

type SeedRow = Omit<EnvironmentSeed, 'state' | 'is_empty' | 'seed' | 'events_sent' | 'events'> & {
  readonly state: 'running' | 'completed' | 'failed';
  readonly seed: string;
  readonly events_sent: string;
  readonly events: string;
  readonly seen_at: string;
};

/** Whether the environment has no plans, customers and meters, deleted ones included. */
export async function isEmpty(db: Db, { tenant_id, environment_id }: Scope): Promise<boolean> {
  const [row] = await db<{ is_empty: boolean }[]>`
    select not exists (select from plans where tenant_id = ${tenant_id} and environment_id = ${environment_id})
       and not exists (select from customers where tenant_id = ${tenant_id} and environment_id = ${environment_id})
       and not exists (select from meters where tenant_id = ${tenant_id} and environment_id = ${environment_id})
           as is_empty`;
  return row!.is_empty;
}

/** How the environment was filled, or that it was not. */
export async function readSeed(db: Db, scope: Scope, nowMs: number): Promise<EnvironmentSeed> {
  const { tenant_id, environment_id } = scope;
  const [row] = await db<SeedRow[]>`
    select environment_id, state, profile, seed, step, events_sent, events, error, started_at, ended_at, seen_at
      from environment_seeds where tenant_id = ${tenant_id} and environment_id = ${environment_id}`;
  const is_empty = await isEmpty(db, scope);
  if (row === undefined) return { ...NONE, environment_id, is_empty };
  const isLost = row.state === 'running' && Date.parse(row.seen_at) + SILENT_MS_MAX < nowMs;
  return picked(EnvironmentSeed.shape, {
    ...row,
    ...(isLost ? { state: 'failed' as const, error: LOST } : {}),
    is_empty,
    seed: Number(row.seed),
    events_sent: Number(row.events_sent),
    events: Number(row.events),
  });
}

const LOST = 'The service was stopped while it filled the environment.';
const NONE = {
  state: 'none',
  profile: null,
  seed: null,
  step: null,
  events_sent: 0,
  events: 0,
  error: null,
  started_at: null,
  ended_at: null,
} as const;

/** Stores that the environment is being filled, in place of an attempt that failed. */
export async function insertSeed(
  tx: Transaction,
  { tenant_id, environment_id }: Scope,
  { profile, seed, events }: SeedEnvironmentBody,
  by: { readonly user_id: string; readonly at: string },
): Promise<void> {
  await tx`delete from environment_seeds where tenant_id = ${tenant_id} and environment_id = ${environment_id}`;
  await tx`
    insert into environment_seeds
           ${tx({ tenant_id, environment_id, profile, seed, events, state: 'running', started_by: by.user_id, started_at: by.at, seen_at: by.at })}`;
}

/** What has changed since the last note. Nothing once it has ended. */
export async function noteSeed(
  db: Db,
  { tenant_id, environment_id }: Scope,
  change: {
    readonly step?: string;
    readonly events_sent?: number;
    readonly state?: 'completed' | 'failed';
    readonly error?: string | null;
  },
  nowMs: number,
): Promise<void> {
  const at = isoTime(nowMs);
  const ended = change.state === undefined ? {} : { ended_at: at };
  await db`
    update environment_seeds set ${db({ ...change, ...ended, seen_at: at })}
     where tenant_id = ${tenant_id} and environment_id = ${environment_id} and state = 'running'`;
}

/** Calls of one environment take turns until the transaction ends. */
export async function lockSeed(tx: Transaction, { tenant_id, environment_id }: Scope) {
  await tx`
    select 1 from environments where tenant_id = ${tenant_id} and id = ${environment_id} for no key update`;
}
