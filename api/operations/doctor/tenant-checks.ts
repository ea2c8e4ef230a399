import type { PartitionParts } from '../../../clickhouse/reading/most-parts.ts';
import type {
  ConnectionFacts,
  JobFacts,
  ServiceFacts,
} from '../../../postgres/tables/service-facts.ts';
import type { HealthCheck, HealthState } from '../../../schemas/doctor.ts';
import { age } from './age.ts';
import type { EnvironmentFacts, IncompleteMeters } from './repository.ts';
import { delaysInserts, hasFewConnections, hasManyParts } from './store-limits.ts';

/** The stream waits for a store or does not run if nothing moves for this long. */
const WAITING_WARN_MS = 60_000;
const WAITING_BAD_MS = 600_000;
/** Every job runs at least once a day. */
const JOB_SECONDS_MAX = 26 * 3_600;
/** Requests are kept for seven days and deleted hourly. */
const REQUEST_SECONDS_MAX = (7 * 24 + 3) * 3_600;

const ASK = 'ask your operator: npm run maintain -- doctor names the cause';

/** The partition with the most parts; null if there are none, `unreachable` if ClickHouse does not answer. */
export type PartsFacts = PartitionParts | null | 'unreachable';

/**
 * What is wrong for one environment, and how to fix it. Errors of jobs and the figures of the stores, which all
 * tenants share, stay with the operator.
 */
export function tenantChecks(
  service: ServiceFacts,
  parts: PartsFacts,
  meters: IncompleteMeters,
  environment: EnvironmentFacts,
): HealthCheck[] {
  const { repairs } = service;
  const away = repairs.sealer_away_seconds !== null;
  const { mismatched, set_aside: aside, waiting } = meters;
  const old = environment.oldest_request_seconds;
  return [
    lagCheck(service.lag),
    count('stopped partitions', service.stopped_partitions, 'bad', ASK),
    count('partitions under repair', repairs.replays, 'warn', `usage answers 503 until they are done; ${ASK}`),
    health('seals', away ? 'warn' : 'ok', away ? 'not being made' : 'up to date', `usage is right but slower; ${ASK}`),
    partsCheck(parts),
    connectionsCheck(service.connections),
    ...jobChecks(service.jobs),
    health(
      'retention',
      old !== null && old > REQUEST_SECONDS_MAX ? 'warn' : 'ok',
      old === null ? 'nothing is stored yet' : `requests of the last ${days(Math.ceil(old / 86_400))}`,
      `the job forget-expired-records does not run; ${ASK}`,
    ),
    health(
      'meters',
      mismatched + aside > 0 ? 'bad' : waiting > 0 ? 'warn' : 'ok',
      `${waiting} still counting, ${mismatched} mismatched, ${aside} set aside`,
      mismatched + aside > 0
        ? 'open the meter: its versions give the reason; an edit creates a new version'
        : 'earlier events are still being counted: wait',
    ),
    count('subscriptions that cannot be billed', environment.refused_subscriptions, 'bad', 'read billing_refusal of each and fix what it names; the billing run retries'),
    count('credits of grants that failed ten times', environment.failing_credit_grants, 'bad', 'read failure_reason at /v1/customers/{id}/grants/upcoming and fix what it names; they are tried again daily'),
    count('webhook endpoints that fail', environment.failing_endpoints, 'warn', 'read their attempts and fix the receiver; deliveries are retried for four days'),
    count('webhook endpoints that were disabled', environment.disabled_endpoints, 'bad', 'fix the receiver, enable the endpoint and replay the time that it missed'),
    count('notifications without attempts left, in the last week', environment.exhausted_deliveries, 'bad', 'replay them: POST /v1/webhooks/replay'),
    count('tasks that failed in the last week', environment.failed_tasks, 'warn', 'open the task: its result file lists the errors of each row'),
    count('runs of exports that failed in the last week', environment.failed_export_runs, 'warn', 'open the scheduled export: its runs give the reason; when it is fixed, run it for the days that are missing'),
  ]; // prettier-ignore
}

const WORSE: readonly HealthState[] = ['ok', 'warn', 'bad'];

export const worstOf = (checks: readonly HealthCheck[]): HealthState =>
  WORSE[Math.max(0, ...checks.map(({ state }) => WORSE.indexOf(state)))]!;

const health = (name: string, state: HealthState, found: string, mend: string): HealthCheck => ({
  name,
  state,
  found,
  mend: state === 'ok' ? null : mend,
});

const count = (name: string, found: number, state: HealthState, mend: string): HealthCheck =>
  health(name, found === 0 ? 'ok' : state, found === 0 ? 'none' : String(found), mend);

function lagCheck(lag: ServiceFacts['lag']): HealthCheck {
  const name = 'log lag';
  if (lag === null) return health(name, 'bad', 'the event log does not answer', ASK);
  const records = lag.reduce((sum, { lag_records }) => sum + lag_records, 0);
  const waiting = Math.max(0, ...lag.map(({ waiting_ms }) => waiting_ms));
  if (records === 0) return health(name, 'ok', 'none', '');
  const state = waiting > WAITING_BAD_MS ? 'bad' : waiting > WAITING_WARN_MS ? 'warn' : 'ok';
  const seconds = Math.round(waiting / 1_000);
  return health(
    name,
    state,
    `${records} records; the oldest progress is ${age(seconds)} old`,
    `events are safe and are counted later; ${ASK}`,
  );
}

function partsCheck(parts: PartsFacts): HealthCheck {
  const name = 'ClickHouse parts';
  if (parts === 'unreachable')
    return health(
      name,
      'bad',
      'ClickHouse does not answer',
      `events are safe and are counted later; ${ASK}`,
    );
  if (parts !== null && delaysInserts(parts))
    return health(
      name,
      'bad',
      'so many that inserts are slowed down',
      `events are counted later; ${ASK}`,
    );
  const many = parts !== null && hasManyParts(parts);
  return health(name, many ? 'warn' : 'ok', many ? 'merges do not keep up' : 'merges keep up', ASK);
}

function connectionsCheck(connections: ConnectionFacts): HealthCheck {
  const few = hasFewConnections(connections);
  return health(
    'Postgres connections',
    few ? 'warn' : 'ok',
    few ? 'few are free' : 'enough are free',
    ASK,
  );
}

function jobChecks(jobs: readonly JobFacts[]): HealthCheck[] {
  if (jobs.length === 0) return [health('jobs', 'bad', 'never ran', ASK)];
  return jobs.map(({ name, last_error: error, seconds_since_start: seconds }) => {
    const isLate = seconds === null || seconds > JOB_SECONDS_MAX;
    const when = seconds === null ? 'never ran' : `last run ${age(seconds)} ago`;
    const state = isLate ? 'bad' : error !== null ? 'warn' : 'ok';
    return health(
      `job ${name}`,
      state,
      error === null ? when : `${when}; it failed`,
      isLate ? ASK : `it is repeated automatically; if it keeps failing, ${ASK}`,
    );
  });
}

/** `day` for one. */
const days = (count: number): string => (count === 1 ? 'day' : `${count} days`);
