import type { LogHead } from '../../domain/metering/log-heads.ts';
import type { Db } from '../client.ts';

/** How far the stream is behind one partition of the log. */
export interface PartitionLag {
  readonly partition: number;
  /** Log records not processed yet. */
  readonly lag_records: number;
  /** When the watermark last moved; null means never. */
  readonly watermark_moved_at: string | null;
  /** Time since then, in milliseconds of the database's clock; 0 if nothing waits. */
  readonly waiting_ms: number;
}

/**
 * Heads of the log compared with the watermarks (metering 4), by partition; epochs of one partition add up.
 * An internal table of the stream without a tenant, so `db` is the service's and not a request's.
 */
export async function readStreamLag(db: Db, heads: readonly LogHead[]): Promise<PartitionLag[]> {
  const rows = await db<Progress[]>`
    select epoch, partition, next_offset, updated_at,
           greatest(0, round(extract(epoch from now() - updated_at) * 1000))::int as idle_ms
      from stream_progress`;
  const progress = new Map(rows.map((row) => [`${row.epoch}/${row.partition}`, row]));
  const partitions = new Map<number, PartitionLag>();
  for (const { epoch, partition, next } of heads) {
    const passed = progress.get(`${epoch}/${partition}`);
    const known = partitions.get(partition);
    const lag = Math.max(Number(next - BigInt(passed?.next_offset ?? 0)), 0);
    partitions.set(partition, {
      partition,
      lag_records: lag + (known?.lag_records ?? 0),
      watermark_moved_at: passed?.updated_at ?? known?.watermark_moved_at ?? null,
      waiting_ms: Math.max(lag > 0 ? (passed?.idle_ms ?? 0) : 0, known?.waiting_ms ?? 0),
    });
  }
  return [...partitions.values()].sort((left, right) => left.partition - right.partition);
}

interface Progress {
  readonly epoch: number;
  readonly partition: number;
  readonly next_offset: string;
  readonly updated_at: string;
  readonly idle_ms: number;
}
