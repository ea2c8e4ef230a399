import type { PartitionPositions } from '../../../platform/event-log/event-log.ts';
import type { Db, Scope } from '../../../postgres/client.ts';
import { LOG_FAULT_TEXT } from '../../../domain/metering/log-identity.ts';
import { readStops } from '../../../postgres/tables/stream-stops.ts';
import { check, type Check } from './check.ts';
import { readIncompleteMeters, readProgress, type Progress } from './repository.ts';
import { readRepairs } from '../../../postgres/tables/service-facts.ts';

export interface UsageCheckDeps {
  readonly db: Db;
  readonly positions: () => Promise<readonly PartitionPositions[]>;
  /** Waits between two reads of the stream's progress. */
  readonly pause: () => Promise<void>;
}

/** Whether usage is current and complete. `scope` selects the meters; null means those of all tenants. */
export async function checkUsage(deps: UsageCheckDeps, scope: Scope | null): Promise<Check[]> {
  const { db } = deps;
  const [lag, stops, repairs, meters] = await Promise.all([
    checkLag(deps),
    checkStops(db),
    readRepairs(db),
    readIncompleteMeters(db, scope),
  ]);
  const { replays, sealer_away_seconds: away, rebuild_requested: rebuild } = repairs;
  const { waiting, mismatched, set_aside: aside } = meters;
  const meterWords = `${waiting} not complete, ${mismatched} mismatched, ${aside} set aside`;
  return [
    lag,
    stops,
    check(
      'replays under repair',
      `${replays} partitions`,
      replays > 0,
      'usage answers 503 until the stream has written the last day again; check that the stream runs',
    ),
    check(
      'seals',
      away === null
        ? `up to date${rebuild ? '; a rebuild is under way' : ''}`
        : 'no sealer is running',
      away !== null,
      'the stream role seals: check that it runs, and read its log',
    ),
    check(
      'meters',
      meterWords,
      mismatched + aside > 0,
      'docs/operations.md, "Meters that do not become complete"',
    ),
  ];
}

/** A stream that is behind but advancing is healthy; one that does not advance while records wait is not. */
async function checkLag({ db, positions, pause }: UsageCheckDeps): Promise<Check> {
  const before = lagOf(await positions(), await readProgress(db));
  if (before.records === 0n) return check('log lag', 'none', false, '');
  await pause();
  const after = lagOf(await positions(), await readProgress(db));
  const stuck = [...after.byPartition].filter(
    ([partition, { behind, at }]) => behind > 0n && before.byPartition.get(partition)?.at === at,
  );
  const where = stuck.map(([partition]) => partition).join(', ');
  return check(
    'log lag',
    `${after.records} records${stuck.length === 0 ? '' : `; no progress in ${where}`}`,
    stuck.length > 0,
    'the stream makes no progress: check that it runs, and read its log for the store that it waits for',
  );
}

const NAMED_STOPS_MAX = 5;

/** Partitions that the stream does not read any further, because their log is not the one that it read before. */
async function checkStops(db: Db): Promise<Check> {
  const stops = await readStops(db);
  const named = stops
    .slice(0, NAMED_STOPS_MAX)
    .map(({ epoch, partition, fault }) => `${epoch}/${partition} ${LOG_FAULT_TEXT[fault]}`);
  const more = stops.length > NAMED_STOPS_MAX ? `, and ${stops.length - NAMED_STOPS_MAX} more` : '';
  return check(
    'stopped partitions',
    stops.length === 0 ? 'none' : `${named.join('; ')}${more}`,
    stops.length > 0,
    'choose how to continue: npm run maintain -- log (docs/operations.md, "A partition is stopped")',
  );
}

interface Lag {
  readonly records: bigint;
  readonly byPartition: ReadonlyMap<string, { readonly behind: bigint; readonly at: bigint }>;
}

export function lagOf(
  positions: readonly PartitionPositions[],
  progress: readonly Progress[],
): Lag {
  const handled = new Map(
    progress.map(({ epoch, partition, next_offset }) => [
      `${epoch}/${partition}`,
      BigInt(next_offset),
    ]),
  );
  const byPartition = new Map(
    positions.map(({ epoch, partition, first, next }) => {
      const at = handled.get(`${epoch}/${partition}`) ?? first;
      return [`${epoch}/${partition}`, { behind: next > at ? next - at : 0n, at }];
    }),
  );
  const records = [...byPartition.values()].reduce((sum, { behind }) => sum + behind, 0n);
  return { records, byPartition };
}
