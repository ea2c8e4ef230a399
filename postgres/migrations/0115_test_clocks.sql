-- Test clocks: customers of an environment that is not production may live by a clock that only moves when
-- it is told to. `now` is its time; while it is `advancing`, a job moves it from one due instant to the next
-- up to `advancing_to`. `stream_heads` are the ends of the event log when the advance was requested; null once
-- the stream has passed them. `members` counts changes of the customers that the clock owns, so that a cached
-- list of them is known to be current. An archived clock never moves again.
-- Locks: customers, audit_log and outbox for a moment; no row is rewritten.
create table test_clocks (
  id text primary key,
  tenant_id text not null,
  environment_id text not null,
  name text,
  now timestamptz not null,
  status text not null default 'ready' constraint test_clocks_status_check
    check (status in ('ready', 'advancing', 'failed', 'archived')),
  advancing_to timestamptz,
  error text,
  stream_heads jsonb,
  members bigint not null default 0,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  created_by text not null default '',
  updated_by text not null default '',
  constraint test_clocks_advancing_check check ((status = 'advancing') <= (advancing_to is not null))
);
create index test_clocks_scope_idx on test_clocks (tenant_id, environment_id, created_at desc, id desc);
create index test_clocks_advancing_idx on test_clocks (id) where status = 'advancing';

alter table customers add column test_clock_id text references test_clocks (id);
create index customers_test_clock_id_idx on customers (test_clock_id) where test_clock_id is not null;

create function count_test_clock_members() returns trigger language plpgsql as $$
begin
  update test_clocks set members = members + 1 where id = new.test_clock_id;
  return null;
end $$;
create trigger customers_test_clock_members
  after insert or update of external_id, status on customers
  for each row when (new.test_clock_id is not null) execute function count_test_clock_members();

-- The time of the customer's test clock; created_at and occurred_at stay the real time. Null for everything
-- that happens in real time.
alter table audit_log add column clock_time timestamptz
  default nullif(current_setting('meterline.time', true), '')::timestamptz;
alter table outbox add column clock_time timestamptz
  default nullif(current_setting('meterline.time', true), '')::timestamptz;
