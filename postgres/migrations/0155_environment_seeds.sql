-- Environments that are filled with generated data, one row for each: who asked, how far it is, how it ended.
-- Locks nothing: the table is new.
create table environment_seeds (
  environment_id text primary key,
  tenant_id text not null references tenants (id),
  profile text not null,
  -- The same number gives the same customers and usage.
  seed bigint not null,
  state text not null
    constraint environment_seeds_state_check check (state in ('running', 'completed', 'failed')),
  -- The last completed step.
  step text,
  events_sent bigint not null default 0,
  events bigint not null,
  -- Why it failed.
  error text,
  started_by text not null,
  started_at timestamptz(3) not null,
  -- The process that fills the environment renews it; a row that is not renewed has lost its process.
  seen_at timestamptz(3) not null,
  ended_at timestamptz(3)
);
