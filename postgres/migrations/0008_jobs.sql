-- Who runs which job. Several job processes hear the same tick; one of them gets the lease. Times are the
-- server's, so that clocks of different machines can not disagree. `generation` grows with every lease:
-- a process that was paused past its lease holds an older one, and its writes are refused.
-- Locks nothing: the table is new.
create table job_leases (
  name text primary key,
  generation bigint not null default 0,
  holder text,
  leased_until timestamptz,
  -- The tick that was served last: the same tick is not served twice.
  last_scheduled_at timestamptz,
  last_started_at timestamptz,
  last_finished_at timestamptz,
  last_error text
);
