-- The identity of the log (metering 3): a log that lost its tail, or a database that was put back to an
-- earlier state, must not give out positions a second time. Locks stream_progress for a moment; it has a
-- row for each partition.

-- CRC-32 of the last processed record, the one before next_offset. Null: not known.
alter table stream_progress add column last_crc bigint;

-- Partitions that are not read any further until a person has chosen how to go on.
create table stream_stops (
  epoch integer not null,
  partition integer not null,
  fault text not null constraint stream_stops_fault_check check (fault in
    ('records_missing', 'log_too_short', 'another_record', 'positions_used', 'epoch_behind')),
  next_offset bigint not null,
  stopped_at timestamptz not null default now(),
  primary key (epoch, partition)
);

-- Where the partitions of closed epochs end, noted when the stream had compared what the closed partition
-- holds with what it had processed. What stands in the log beyond is not read under its old position.
create table stream_epoch_ends (
  epoch integer not null,
  partition integer not null,
  end_offset bigint not null,
  -- Records from the end to here were appended again to a later epoch.
  forwarded_offset bigint not null default 0,
  primary key (epoch, partition)
);
-- Epochs before one that was processed were drained by the rules of their time.
insert into stream_epoch_ends (epoch, partition, end_offset)
select epoch, partition, next_offset
  from stream_progress p
 where exists (select from stream_progress later
                where later.epoch > p.epoch and later.next_offset > 0);
