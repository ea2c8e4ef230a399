-- Which epoch a group reads is decided by the reader from its own progress; the commits of the log are for
-- lag tools alone. So a heartbeat says for which epoch it asks. Locks nothing: functions only.
drop function renew_log_leases(text, text, integer, integer[], text);

-- One heartbeat of a member, on this clock: renews its membership and its leases of one epoch, and takes
-- free partitions up to its even share. Heartbeats of a group take turns, so shares are computed on
-- settled ground. One call and so one statement: a process that is paused in the middle of a transaction
-- of several would keep all others from their heartbeats until it wakes.
create function renew_epoch_leases(
  in_group text,
  in_member text,
  in_lease_ms integer,
  in_epoch integer,
  in_unwanted integer[],
  in_channel text
) returns table (even_share integer, held integer[]) language plpgsql as $$
declare
  lease_end timestamptz;
begin
  perform pg_advisory_xact_lock(hashtextextended('event-log-group:' || in_group, 0));
  lease_end := clock_timestamp() + in_lease_ms * interval '1 millisecond';

  insert into log_members (group_name, member, expires_at) values (in_group, in_member, lease_end)
      on conflict (group_name, member) do update set expires_at = excluded.expires_at;
  delete from log_members where group_name = in_group and expires_at < clock_timestamp();

  with members as (
    select member, row_number() over (order by member) - 1 as place, count(*) over () as members
      from log_members
     where group_name = in_group)
  select partitions / members + case when place < partitions % members then 1 else 0 end
    into even_share
    from log_epochs, members
   where epoch = in_epoch and member = in_member;

  update log_leases set expires_at = lease_end
   where group_name = in_group and epoch = in_epoch and member = in_member;
  insert into log_leases (group_name, epoch, partition, member, expires_at)
  select in_group, head.epoch, head.partition, in_member, lease_end
    from log_partitions head
   where head.epoch = in_epoch
     and head.partition <> all (in_unwanted)
     and not exists (
           select from log_leases taken
            where taken.group_name = in_group and taken.epoch = head.epoch
              and taken.partition = head.partition
              and taken.expires_at >= clock_timestamp())
   order by head.partition
   limit greatest(0, even_share - (
           select count(*) from log_leases
            where group_name = in_group and epoch = in_epoch and member = in_member))
      on conflict (group_name, epoch, partition)
      do update set member = excluded.member, expires_at = excluded.expires_at;

  select coalesce(array_agg(partition order by partition), '{}') into held
    from log_leases
   where group_name = in_group and epoch = in_epoch and member = in_member;
  perform pg_notify(in_channel, '');
  return next;
end $$;
