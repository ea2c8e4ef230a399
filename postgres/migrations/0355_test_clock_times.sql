-- The time that a test clock had from a real instant on: one row for its creation and one for each advance that ended.
-- Entitlements of plans and addons are written in real time; this says which time a clock had then (billing 22.5).
-- The earlier advances of clocks that exist are unknown: what was written since their creation counts from their
-- present time on. Locks nothing: the table is new.
create table test_clock_times (
  test_clock_id text not null references test_clocks (id),
  tenant_id text not null,
  environment_id text not null,
  real_from timestamptz not null,
  now timestamptz not null,
  primary key (test_clock_id, real_from)
);
insert into test_clock_times (test_clock_id, tenant_id, environment_id, real_from, now)
select id, tenant_id, environment_id, created_at, now from test_clocks;
