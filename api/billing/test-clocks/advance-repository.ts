import {
  inScope,
  type Db,
  type Fragment,
  type Pool,
  type Scope,
  type Transaction,
} from '../../../postgres/client.ts';
import { noteClockTime } from '../../../postgres/tables/test-clocks.ts';
import type { StoredWatermarks } from '../../../schemas/invoice.ts';

/** A clock that is being advanced. */
export interface AdvancingClock extends Scope {
  readonly id: string;
  readonly now: string;
  readonly advancing_to: string;
  /** The stream must pass these ends of the log first; null once it has. */
  readonly stream_heads: StoredWatermarks | null;
}

/** The clocks that are being advanced, by id. */
export async function advancingClocks(db: Db): Promise<AdvancingClock[]> {
  return await db<AdvancingClock[]>`
    select id, tenant_id, environment_id, now, advancing_to, stream_heads
      from test_clocks where status = 'advancing' order by id`;
}

/** Subscriptions of the clock's customers that could not be billed are tried again at once. */
export async function retryRefusedBilling(
  tx: Transaction,
  scope: Scope,
  clockId: string,
): Promise<void> {
  await tx`
    update subscriptions s set billing_retry_at = null
      from customers c
     where ${inScope(tx, scope, 'c')} and c.test_clock_id = ${clockId}
       and s.customer_id = c.id and s.billing_retry_at is not null`;
}

/** Notes that the stream has passed the ends of the log at the time of the request. */
export async function noteStreamPassed(tx: Transaction, { id }: AdvancingClock): Promise<void> {
  await tx`update test_clocks set stream_heads = null where id = ${id} and status = 'advancing'`;
}

/** Moves the clock to the next instant. */
export async function moveClock(
  tx: Transaction,
  { id }: AdvancingClock,
  now: string,
): Promise<void> {
  await tx`update test_clocks set now = ${now} where id = ${id} and status = 'advancing'`;
}

/** Ends the advance: the clock is ready, or it has failed and says what. `at` is real time. */
export async function endAdvance(
  tx: Transaction,
  { id }: AdvancingClock,
  error: string | null,
  at: string,
): Promise<void> {
  const ended =
    error === null
      ? ({ status: 'ready', advancing_to: null, error } as const)
      : ({ status: 'failed', error } as const);
  await tx`
    update test_clocks set ${tx({ ...ended, updated_at: at })}
     where id = ${id} and status = 'advancing'`;
  await noteClockTime(tx, id, at);
}

/** What one job has to do for a clock. A job without instants of its own has work at the time itself, or none. */
export interface DueWork {
  readonly job: string;
  /** Number of things due by the time, and the earliest of them. */
  readonly due: string;
  readonly first: string | null;
  /** The earliest time after it at which something is due. */
  readonly next: string | null;
}

/** Where the work of a job is found: by its instants, or by whether there are rows. */
export type WorkSource = { readonly job: string } & (
  { readonly dueTimes: Fragment } | { readonly rows: Fragment }
);

/**
 * What the jobs have to do by `at`, and when each is due next, in one statement. Its plan is the same for all clocks
 * and times: planning it again takes four times as long as running it.
 */
export async function dueWork(
  pool: Pool,
  at: string,
  sources: readonly WorkSource[],
): Promise<DueWork[]> {
  const all = sources
    .map((source) =>
      'dueTimes' in source
        ? pool`select ${source.job}::text as job, d.at from (${source.dueTimes}) d`
        : pool`select ${source.job}::text, ${at}::timestamptz where exists (${source.rows})`,
    )
    .reduce((left, right) => pool`${left} union all ${right}`);
  return await pool.begin('read only', async (tx) => {
    const planning = tx`set local plan_cache_mode = force_generic_plan`.execute();
    const found = tx<DueWork[]>`
      select job, count(*) filter (where at <= ${at}) as due,
             min(at) filter (where at <= ${at}) as first, min(at) filter (where at > ${at}) as next
        from (${all}) times group by job`;
    await planning;
    return await found;
  });
}
