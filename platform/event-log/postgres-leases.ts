import type { Pool } from '../../postgres/client.ts';
import { RECORDS_CHANNEL } from './postgres-channel.ts';

export interface HeldLeases {
  /** The epoch the group reads: the oldest one that it has not drained. */
  readonly epoch: number;
  /** Partitions of that epoch leased to the member now, ascending. */
  readonly partitions: readonly number[];
  /** How many of them are the member's even share; what is beyond should be given back. */
  readonly share: number;
}

/**
 * One heartbeat of a member, on the Postgres clock: renews its membership and its leases, and takes
 * free partitions up to its share. Heartbeats of a group take turns, so shares are computed on
 * settled ground.
 */
export async function renewLeases(
  pool: Pool,
  ask: { group: string; member: string; leaseMs: number; unwanted: readonly number[] },
): Promise<HeldLeases> {
  const { group, member, leaseMs } = ask;
  return pool.begin(async (tx) => {
    await tx`select pg_advisory_xact_lock(hashtextextended(${`event-log-group:${group}`}, 0))`;
    const expiry = tx`clock_timestamp() + ${leaseMs} * interval '1 millisecond'`;
    await tx`
      insert into log_members (group_name, member, expires_at)
      values (${group}, ${member}, ${expiry})
          on conflict (group_name, member) do update set expires_at = excluded.expires_at`;
    await tx`
      delete from log_members where group_name = ${group} and expires_at < clock_timestamp()`;
    const [reading] = await tx<{ epoch: number; share: number }[]>`
      with reading as (
        select epoch, partitions
          from log_epochs epochs
         where closed_at is null
            or exists (
                 select from log_partitions head
                   left join log_commits passed
                     on passed.group_name = ${group}
                    and passed.epoch = head.epoch
                    and passed.partition = head.partition
                  where head.epoch = epochs.epoch
                    and coalesce(passed."offset", 0) < head.next_offset)
         order by epoch
         limit 1),
      members as (
        select member, row_number() over (order by member) - 1 as place, count(*) over () as count
          from log_members
         where group_name = ${group})
      select epoch,
             (partitions / count + case when place < partitions % count then 1 else 0 end)::integer
               as share
        from reading, members
       where member = ${member}`;
    const { epoch, share } = reading!;
    await tx`
      update log_leases set expires_at = ${expiry}
       where group_name = ${group} and epoch = ${epoch} and member = ${member}`;
    await tx`
      insert into log_leases (group_name, epoch, partition, member, expires_at)
      select ${group}, epoch, partition, ${member}, ${expiry}
        from log_partitions head
       where epoch = ${epoch}
         and partition <> all (${ask.unwanted as number[]}::integer[])
         and not exists (
               select from log_leases taken
                where taken.group_name = ${group} and taken.epoch = head.epoch
                  and taken.partition = head.partition
                  and taken.expires_at >= clock_timestamp())
       order by partition
       limit greatest(0, ${share} - (
               select count(*) from log_leases
                where group_name = ${group} and epoch = ${epoch} and member = ${member}))
          on conflict (group_name, epoch, partition)
          do update set member = excluded.member, expires_at = excluded.expires_at`;
    const held = await tx<{ partition: number }[]>`
      select partition from log_leases
       where group_name = ${group} and epoch = ${epoch} and member = ${member}
       order by partition`;
    await tx`select pg_notify(${RECORDS_CHANNEL}, '')`;
    return { epoch, share, partitions: held.map((row) => row.partition) };
  });
}
