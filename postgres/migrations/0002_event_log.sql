-- The partitioned event log of the embedded profile. Offsets are gapless and become visible in commit
-- order, because an append holds its partitions' rows from taking offsets to the commit.
-- Locks nothing: all tables are new.
create table log_epochs (
  epoch integer primary key constraint log_epochs_epoch_check check (epoch between 0 and 255),
  partitions integer not null constraint log_epochs_partitions_check check (partitions between 1 and 1024),
  opened_at timestamptz not null default clock_timestamp(),
  closed_at timestamptz
);
-- Two processes that resize at once can not open two epochs.
create unique index log_epochs_open_key on log_epochs ((closed_at is null)) where closed_at is null;

-- Rows are updated by every append; the free space keeps those updates in place.
create table log_partitions (
  epoch integer not null references log_epochs (epoch),
  partition integer not null,
  first_offset bigint not null default 0,
  next_offset bigint not null default 0,
  closed boolean not null default false,
  primary key (epoch, partition)
) with (fillfactor = 10);

create table log_records (
  epoch integer not null,
  partition integer not null,
  "offset" bigint not null,
  event_count integer not null,
  value bytea not null,
  primary key (epoch, partition, "offset")
);
-- Stored as it comes: compressing would cost more processor time than all other work of an append.
alter table log_records alter column value set storage external;

-- How far a group has come, for lag and for telling a drained epoch; the truth about progress is the
-- reader's own.
create table log_commits (
  group_name text not null,
  epoch integer not null,
  partition integer not null,
  "offset" bigint not null,
  primary key (group_name, epoch, partition)
) with (fillfactor = 50);

-- Who reads. Members share a group's partitions evenly; a lease that is not renewed in time is free.
create table log_members (
  group_name text not null,
  member text not null,
  expires_at timestamptz not null,
  primary key (group_name, member)
);

create table log_leases (
  group_name text not null,
  epoch integer not null,
  partition integer not null,
  member text not null,
  expires_at timestamptz not null,
  primary key (group_name, epoch, partition)
);

-- Appends one record per element of the arrays in one round trip; `joined` holds their values one
-- after the other (one bytea: an array of bytea is parsed byte by byte, twice). All callers lock partitions in the
-- same order, so none waits for another in a circle. A closed epoch raises SQLSTATE ML001.
create function append_to_log(
  in_epoch integer,
  in_partitions integer[],
  in_event_counts integer[],
  in_lengths integer[],
  joined bytea
) returns void language plpgsql as $$
declare
  locked integer;
begin
  perform 1
     from log_partitions
    where epoch = in_epoch and partition = any (in_partitions) and not closed
    order by partition
      for no key update;
  get diagnostics locked = row_count;
  if locked <> (select count(distinct partition) from unnest(in_partitions) as partition) then
    raise exception 'epoch % of the event log is closed', in_epoch using errcode = 'ML001';
  end if;

  insert into log_records (epoch, partition, "offset", event_count, value)
  select in_epoch,
         partition,
         head.next_offset + row_number() over (partition by partition order by place) - 1,
         event_count,
         substr(joined, (sum(length) over (order by place) - length)::integer + 1, length)
    from unnest(in_partitions, in_event_counts, in_lengths)
         with ordinality as given (partition, event_count, length, place)
    join log_partitions as head using (partition)
   where head.epoch = in_epoch;

  update log_partitions as head
     set next_offset = head.next_offset + given.records
    from (select partition, count(*) as records from unnest(in_partitions) as partition group by partition) as given
   where head.epoch = in_epoch and head.partition = given.partition;
end $$;

-- One heartbeat of a member, on this clock: renews its membership and its leases, and takes free
-- partitions up to its even share. Heartbeats of a group take turns, so shares are computed on settled
-- ground. One call and so one statement: a process that is paused in the middle of a transaction of
-- several would keep all others from their heartbeats until it wakes.
create function renew_log_leases(
  in_group text,
  in_member text,
  in_lease_ms integer,
  in_unwanted integer[],
  in_channel text
) returns table (reading_epoch integer, even_share integer, held integer[]) language plpgsql as $$
declare
  lease_end timestamptz;
begin
  perform pg_advisory_xact_lock(hashtextextended('event-log-group:' || in_group, 0));
  lease_end := clock_timestamp() + in_lease_ms * interval '1 millisecond';

  insert into log_members (group_name, member, expires_at) values (in_group, in_member, lease_end)
      on conflict (group_name, member) do update set expires_at = excluded.expires_at;
  delete from log_members where group_name = in_group and expires_at < clock_timestamp();

  with reading as (
    select epochs.epoch, epochs.partitions
      from log_epochs epochs
     where epochs.closed_at is null
        or exists (
             select from log_partitions head
               left join log_commits passed
                 on passed.group_name = in_group
                and passed.epoch = head.epoch
                and passed.partition = head.partition
              where head.epoch = epochs.epoch
                and coalesce(passed."offset", 0) < head.next_offset)
     order by epochs.epoch
     limit 1),
  members as (
    select member, row_number() over (order by member) - 1 as place, count(*) over () as members
      from log_members
     where group_name = in_group)
  select reading.epoch,
         partitions / members + case when place < partitions % members then 1 else 0 end
    into reading_epoch, even_share
    from reading, members
   where member = in_member;

  update log_leases set expires_at = lease_end
   where group_name = in_group and epoch = reading_epoch and member = in_member;
  insert into log_leases (group_name, epoch, partition, member, expires_at)
  select in_group, head.epoch, head.partition, in_member, lease_end
    from log_partitions head
   where head.epoch = reading_epoch
     and head.partition <> all (in_unwanted)
     and not exists (
           select from log_leases taken
            where taken.group_name = in_group and taken.epoch = head.epoch
              and taken.partition = head.partition
              and taken.expires_at >= clock_timestamp())
   order by head.partition
   limit greatest(0, even_share - (
           select count(*) from log_leases
            where group_name = in_group and epoch = reading_epoch and member = in_member))
      on conflict (group_name, epoch, partition)
      do update set member = excluded.member, expires_at = excluded.expires_at;

  select coalesce(array_agg(partition order by partition), '{}') into held
    from log_leases
   where group_name = in_group and epoch = reading_epoch and member = in_member;
  perform pg_notify(in_channel, '');
  return next;
end $$;
