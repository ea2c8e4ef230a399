import type { Pool } from '../../postgres/client.ts';
import { RECORDS_CHANNEL } from './postgres-channel.ts';

export interface HeldLeases {
  /** Partitions of the epoch that the member leases now, ascending. */
  readonly partitions: readonly number[];
  /** The member's even share; partitions beyond it should be given back. */
  readonly share: number;
}

/**
 * One heartbeat of a member, timed by the Postgres clock. Renews its membership and its leases of one epoch,
 * and takes free partitions up to its share (`renew_epoch_leases` in the migrations).
 */
export async function renewLeases(
  pool: Pool,
  ask: {
    group: string;
    member: string;
    leaseMs: number;
    epoch: number;
    unwanted: readonly number[];
  },
): Promise<HeldLeases> {
  const { group, member, leaseMs, epoch, unwanted } = ask;
  const [row] = await pool<{ share: number; partitions: number[] }[]>`
    select even_share as share, held as partitions
      from renew_epoch_leases(${group}, ${member}, ${leaseMs}::integer, ${epoch}::integer,
                              ${unwanted as number[]}::integer[], ${RECORDS_CHANNEL})`;
  return row!;
}
