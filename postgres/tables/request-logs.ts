import type { Pool } from '../client.ts';
import { insertRows } from '../insert-rows.ts';

export type RequestIdempotency = 'first' | 'replayed' | 'refused';

/** One answered request (migration 0105). */
export interface RequestLogRow {
  readonly id: string;
  readonly tenant_id: string;
  readonly environment_id: string;
  readonly request_id: string;
  readonly method: string;
  readonly route: string;
  readonly path: string;
  readonly status_code: number;
  readonly error_code: string | null;
  readonly duration_ms: number;
  readonly idempotency: RequestIdempotency | null;
  readonly actor_kind: 'user' | 'service_account' | 'customer';
  readonly user_id: string | null;
  readonly key_id: string | null;
  readonly ip: string;
  readonly user_agent: string | null;
  readonly created_at: string;
}

/** One insert for all rows. The commit does not wait for the disk: a crash may lose the last rows. */
export async function insertRequestLogs(pool: Pool, rows: readonly RequestLogRow[]): Promise<void> {
  await pool.begin(async (tx) => {
    await tx`set local synchronous_commit = off`;
    await insertRows(tx, 'request_logs', rows);
  });
}
