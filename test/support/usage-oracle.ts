import { answerUsage, type MeteredUsage } from '../../domain/metering/aggregate.ts';
import { packPosition } from '../../domain/metering/position.ts';
import { BillingError } from '../../domain/errors.ts';
import type { UsageReader } from '../../domain/metering/usage.ts';
import type { Pool } from '../../postgres/client.ts';

/**
 * Usage in memory, answered by the pure aggregator, for tests that are about what is billed and not about the store.
 */
export interface UsageOracle {
  readonly reader: UsageReader;
  /** Adds one counted event of the meter's newest version; it is below the watermark at once. */
  use(
    meter: { id: string },
    customer: { external_id: string },
    at: string,
    value?: string,
    dimensions?: Record<string, string>,
  ): Promise<void>;
  /** Many events of one customer, at once. */
  useAll(
    meter: { id: string },
    customer: { external_id: string },
    events: readonly { readonly at: string; readonly value: string }[],
  ): Promise<void>;
  /** The store is unreachable: every read fails. */
  outage(away: boolean): void;
  /** Every read with a question about the customer throws this; null: no more. */
  failFor(customer: { external_id: string }, error: unknown): void;
  /** Runs before every read of usage; null: nothing more. */
  beforeRead(work: (() => Promise<void>) | null): void;
  /** How often usage was read, and how many questions the last read had. */
  readonly reads: { count: number; questions: number };
}

/** Meters of these databases count as backfilled: their usage is whole. */
export function createUsageOracle(): UsageOracle & { attach(pool: Pool): void } {
  const usage = new Map<string, MeteredUsage[]>();
  const of = (customer: string): MeteredUsage[] => {
    const known = usage.get(customer) ?? [];
    usage.set(customer, known);
    return known;
  };
  let offset = 0n;
  let isAway = false;
  let before: (() => Promise<void>) | null = null;
  let database: Pool | null = null;
  const failures = new Map<string, unknown>();
  const reads = { count: 0, questions: 0 };
  const head = () => ({ 0: packPosition(0, offset, 0) });
  const add = async (
    meter: { id: string },
    customer: { external_id: string },
    events: readonly { readonly at: string; readonly value: string }[],
    dimensions: Record<string, string>,
  ): Promise<void> => {
    const [version] = await database!<{ id: string; tenant_id: string; environment_id: string }[]>`
      select id, tenant_id, environment_id from meter_versions
       where meter_id = ${meter.id} order by version desc limit 1`;
    for (const { at, value } of events) {
      of(customer.external_id).push({
        tenant_id: version!.tenant_id,
        environment_id: version!.environment_id,
        meter_version_id: version!.id,
        external_customer_id: customer.external_id,
        timestamp: Date.parse(at),
        partition: 0,
        position: packPosition(0, offset, 0),
        value,
        unique_value: null,
        dimensions,
        source: '',
      });
      offset += 1n;
    }
  };
  return {
    reads,
    attach: (pool) => void (database = pool),
    beforeRead: (work) => void (before = work),
    outage: (away) => void (isAway = away),
    failFor: ({ external_id }, error) =>
      void (error === null ? failures.delete(external_id) : failures.set(external_id, error)),
    use: (meter, customer, at, value = '1', dimensions = {}) =>
      add(meter, customer, [{ at, value }], dimensions),
    useAll: (meter, customer, events) => add(meter, customer, events, {}),
    reader: {
      async read(queries, bound = 'watermark') {
        await before?.();
        if (isAway) throw new BillingError('unavailable', 'usage_unavailable', 'the store is away');
        reads.count += 1;
        reads.questions = queries.length;
        for (const id of queries.flatMap((query) => query.external_customer_ids ?? []))
          if (failures.has(id)) throw failures.get(id);
        const below = typeof bound === 'object' ? bound.at : head();
        const visible = bound === 'fresh' ? null : below;
        // Each query reads the rows of its own customers only.
        const answers = queries.flatMap((query) => {
          const ids = query.external_customer_ids ?? [...usage.keys()];
          const rows = [...new Set(ids)].flatMap(of);
          return [...answerUsage([query], rows, visible).answers];
        });
        return { watermarks: visible ?? {}, answers: new Map(answers) };
      },
    },
  };
}

/** What the stream does for a meter once its backfill is through. */
export const completeBackfills = (pool: Pool) =>
  pool`update meter_versions set backfill_state = 'complete' where backfill_state <> 'complete'`;
