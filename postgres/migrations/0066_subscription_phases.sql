-- Phases of a subscription. They are contiguous: each begins where the one before ends (billing-semantics 11).
-- What a phase charges are line items with its id, in its window. Locks nothing: the table is new.
create table subscription_phases (
  id text primary key,
  tenant_id text not null,
  environment_id text not null,
  subscription_id text not null references subscriptions (id),
  start_date timestamptz(3) not null,
  end_date timestamptz(3),
  metadata jsonb not null default '{}',
  status text not null default 'published',
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  created_by text not null default '',
  updated_by text not null default '',
  constraint subscription_phases_dates_check check (end_date is null or start_date < end_date)
);
create index subscription_phases_subscription_id_idx
    on subscription_phases (tenant_id, environment_id, subscription_id, start_date);
