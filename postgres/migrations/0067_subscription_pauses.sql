-- Pauses of a subscription, planned and past: what was used in one is not billed (billing-semantics 12.3). The
-- subscription keeps the times at which the clock acts on its current pause. Adding nullable columns rewrites
-- nothing.
create table subscription_pauses (
  id text primary key,
  tenant_id text not null,
  environment_id text not null,
  subscription_id text not null references subscriptions (id),
  pause_mode text not null,
  resume_mode text,
  pause_status text not null constraint subscription_pauses_pause_status_check
    check (pause_status in ('scheduled', 'active', 'completed', 'cancelled')),
  pause_start timestamptz(3) not null,
  pause_end timestamptz(3),
  resumed_at timestamptz(3),
  original_period_start timestamptz(3) not null,
  original_period_end timestamptz(3) not null,
  reason text,
  metadata jsonb not null default '{}',
  status text not null default 'published',
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  created_by text not null default '',
  updated_by text not null default ''
);
create index subscription_pauses_subscription_id_idx
    on subscription_pauses (tenant_id, environment_id, subscription_id, pause_start);
-- The start of the current pause, planned or past, and its planned end.
alter table subscriptions add column pause_at timestamptz(3), add column resume_at timestamptz(3);
