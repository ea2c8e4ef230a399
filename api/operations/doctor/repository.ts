import { FAILURES_TO_ALERT } from '../../../domain/wallet/grant-application.ts';
import { inScope, type Db, type Scope } from '../../../postgres/client.ts';

export interface Progress {
  readonly epoch: number;
  readonly partition: number;
  readonly next_offset: string;
}

/** Progress of the stream in every partition, unordered. */
export function readProgress(db: Db): Promise<Progress[]> {
  return db<Progress[]>`select epoch, partition, next_offset from stream_progress`;
}

export interface IncompleteMeters {
  readonly waiting: number;
  readonly mismatched: number;
  readonly set_aside: number;
}

/** Meter versions that do not count, or do not count yet, of one environment or of all (null). */
export async function readIncompleteMeters(db: Db, scope: Scope | null): Promise<IncompleteMeters> {
  const own = scope === null ? db`true` : inScope(db, scope);
  const [row] = await db<IncompleteMeters[]>`
    select count(*) filter (where backfill_state not in ('mismatched', 'set_aside'))::int as waiting,
           count(*) filter (where backfill_state = 'mismatched')::int as mismatched,
           count(*) filter (where backfill_state = 'set_aside')::int as set_aside
      from meter_versions v
     where backfill_state <> 'complete' and ${own}
       -- One that is set aside has ended; it counts until the meter has a next version.
       and (ended_catalog_version is null
            or backfill_state = 'set_aside'
               and not exists (select from meter_versions n
                                where n.meter_id = v.meter_id and n.version > v.version))`;
  return row!;
}

/**
 * Age of the oldest stored progress, up to which records may be deleted from the log, in seconds; null if
 * there is none yet.
 */
export async function readOldestProgress(db: Db): Promise<number | null> {
  const [row] = await db<{ seconds: number | null }[]>`
    select extract(epoch from now() - min(minute))::int as seconds from stream_progress_history`;
  return row!.seconds;
}

/** Facts about an environment. */
export interface EnvironmentFacts {
  readonly refused_subscriptions: number;
  readonly failing_credit_grants: number;
  readonly failing_endpoints: number;
  readonly disabled_endpoints: number;
  readonly exhausted_deliveries: number;
  readonly failed_tasks: number;
  readonly failed_export_runs: number;
  /** Age of the oldest stored request, in seconds; null without one. */
  readonly oldest_request_seconds: number | null;
}

/** Facts about the environment of the scope. Ages are measured by the clock of the database. */
export async function readEnvironmentFacts(db: Db, scope: Scope): Promise<EnvironmentFacts> {
  const [row] = await db<EnvironmentFacts[]>`
    select (select count(*)::int from subscriptions
             where ${inScope(db, scope)} and status = 'published' and billing_refusal is not null)
             as refused_subscriptions,
           (select count(*)::int from credit_grant_applications
             where ${inScope(db, scope)} and application_status = 'failed'
               and retry_count >= ${FAILURES_TO_ALERT}) as failing_credit_grants,
           (select count(*)::int from webhook_endpoints
             where ${inScope(db, scope)} and status = 'published' and enabled and failing_since is not null)
             as failing_endpoints,
           (select count(*)::int from webhook_endpoints
             where ${inScope(db, scope)} and status = 'published' and not enabled
               and disabled_reason is not null) as disabled_endpoints,
           (select count(*)::int from webhook_deliveries d
              join webhook_endpoints e on ${inScope(db, scope, 'e')} and e.id = d.endpoint_id
             where ${inScope(db, scope, 'd')} and e.status = 'published'
               and d.delivery_status = 'exhausted' and d.updated_at > now() - interval '7 days')
             as exhausted_deliveries,
           (select count(*)::int from tasks
             where ${inScope(db, scope)} and task_status = 'FAILED'
               and updated_at > now() - interval '7 days') as failed_tasks,
           (select count(*)::int from scheduled_task_runs r
              join scheduled_tasks t on ${inScope(db, scope, 't')} and t.id = r.scheduled_task_id
             where ${inScope(db, scope, 'r')} and t.status = 'published' and r.run_status = 'FAILED'
               and r.created_at > now() - interval '7 days') as failed_export_runs,
           (select extract(epoch from now() - created_at)::int from request_logs
             where ${inScope(db, scope)} order by created_at limit 1) as oldest_request_seconds`;
  return row!;
}
