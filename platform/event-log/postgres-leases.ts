import type { Pool } from '../../postgres/client.ts';
import { RECORDS_CHANNEL } from './postgres-channel.ts';

export interface HeldLeases {
  /** The epoch the group reads: the oldest one that it has not drained. */
  readonly epoch: number;
  /** How many partitions that epoch has. */
  readonly epochPartitions: number;
  /** Partitions of that epoch leased to the member now, ascending. */
  readonly partitions: readonly number[];
  /** How many of them are the member's even share; what is beyond should be given back. */
  readonly share: number;
}

/**
 * One heartbeat of a member, on the Postgres clock: renews its membership and its leases, and takes
 * free partitions up to its share (`renew_log_leases` in the migrations).
 */
export async function renewLeases(
  pool: Pool,
  ask: { group: string; member: string; leaseMs: number; unwanted: readonly number[] },
): Promise<HeldLeases> {
  const { group, member, leaseMs, unwanted } = ask;
  const [row] = await pool<
    { epoch: number; epochPartitions: number; share: number; partitions: number[] }[]
  >`
    select reading_epoch as epoch, even_share as share, held as partitions,
           (select partitions from log_epochs where epoch = reading_epoch) as "epochPartitions"
      from renew_log_leases(${group}, ${member}, ${leaseMs}::integer,
                            ${unwanted as number[]}::integer[], ${RECORDS_CHANNEL})`;
  return row!;
}
