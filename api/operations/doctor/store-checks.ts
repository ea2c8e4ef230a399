import type { ClickHouse } from '../../../clickhouse/client.ts';
import type { Db } from '../../../postgres/client.ts';
import { countLeaky, LEAKPROOF_STATEMENTS } from '../../../postgres/leakproof-functions.ts';
import { age } from './age.ts';
import { check, type Check } from './check.ts';
import { readMostParts } from '../../../clickhouse/reading/most-parts.ts';
import { readOldestProgress } from './repository.ts';
import { hasFewConnections, hasManyParts } from './store-limits.ts';
import {
  readConnections,
  readJobs,
  type JobFacts,
} from '../../../postgres/tables/service-facts.ts';

/** Every job runs at least once a day. */
const JOB_SECONDS_MAX = 26 * 3_600;
/** Progress records are kept for 48 h and deleted hourly. */
const HISTORY_SECONDS_MAX = 50 * 3_600;

/** Checks for the operator only: the stores and the jobs of all tenants. */
export async function checkStores(db: Db, clickhouse: ClickHouse): Promise<Check[]> {
  const [parts, connections, leaky, jobs, oldest] = await Promise.all([
    mostParts(clickhouse),
    readConnections(db),
    countLeaky(db),
    readJobs(db),
    readOldestProgress(db),
  ]);
  return [
    parts,
    check(
      'Postgres connections',
      `${connections.used} of ${connections.allowed}`,
      hasFewConnections(connections),
      'raise max_connections, or put a pooler in front (docs/operations.md)',
    ),
    check(
      'searches by text',
      leaky === 0 ? 'use their indexes' : 'read all records of an environment',
      leaky > 0,
      `as a superuser, in the database of the product: ${LEAKPROOF_STATEMENTS.join(' ')}`,
    ),
    check(
      'retention',
      oldest === null ? 'nothing to delete yet' : `progress of the last ${hours(oldest)} h`,
      oldest !== null && oldest > HISTORY_SECONDS_MAX,
      'the job expire-log-records does not run: see the jobs below',
    ),
    ...checkJobs(jobs),
  ];
}

async function mostParts(clickhouse: ClickHouse): Promise<Check> {
  const name = 'ClickHouse parts';
  try {
    const most = await readMostParts(clickhouse);
    return check(
      name,
      most === null
        ? 'none'
        : `at most ${most.parts} in a partition (${most.table}); inserts slow down at ${most.delayed_at}`,
      most !== null && hasManyParts(most),
      'merges do not keep up: give the server more disk throughput, or send larger batches',
    );
  } catch (error) {
    return check(name, `no answer: ${(error as Error).message}`, true, 'start ClickHouse');
  }
}

export function checkJobs(jobs: readonly JobFacts[]): Check[] {
  if (jobs.length === 0) return [check('jobs', 'never ran', true, 'start the jobs role')];
  return jobs.map(({ name, last_error: error, seconds_since_start: seconds }) => {
    const isLate = seconds === null || seconds > JOB_SECONDS_MAX;
    const when = seconds === null ? 'never ran' : `last run ${age(seconds)} ago`;
    return check(
      `job ${name}`,
      error === null ? when : `${when}, failed: ${error.split('\n')[0]!.slice(0, 120)}`,
      error !== null || isLate,
      error === null
        ? 'no process runs it: start the jobs role'
        : 'it is retried automatically: fix what the error names; the log of the jobs role has the details',
    );
  });
}

const hours = (seconds: number): number => Math.round(seconds / 3_600);
