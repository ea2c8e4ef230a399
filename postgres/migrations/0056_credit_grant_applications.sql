-- One row for each period of a subscription's credit grant: what is due, what was given and what was not
-- (money 5.3). A recurring grant has at most one open row. Locks nothing: the table is new.
create table credit_grant_applications (
  id text primary key,
  tenant_id text not null references tenants (id),
  environment_id text not null references environments (id),
  credit_grant_id text not null references credit_grants (id),
  subscription_id text not null references subscriptions (id),
  -- Start of the period; never changes once anything was given.
  scheduled_for timestamptz(3) not null,
  period_start timestamptz(3) not null,
  period_end timestamptz(3),
  credits numeric(38, 18) not null constraint credit_grant_applications_credits_check check (credits > 0),
  application_status text not null constraint credit_grant_applications_application_status_check
    check (application_status in ('pending', 'applied', 'failed', 'skipped', 'cancelled')),
  application_reason text not null,
  subscription_status_at_application text,
  applied_at timestamptz(3),
  -- A deferred or failed application is tried again then.
  next_attempt_at timestamptz(3) not null,
  deferrals integer not null default 0,
  retry_count integer not null default 0,
  failure_reason text,
  idempotency_key text not null,
  metadata jsonb not null default '{}',
  status text not null default 'published',
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  created_by text not null default '',
  updated_by text not null default ''
);
-- A period of a grant is given once.
create unique index credit_grant_applications_period_key
    on credit_grant_applications (credit_grant_id, period_start);
create unique index credit_grant_applications_open_key
    on credit_grant_applications (credit_grant_id) where application_status in ('pending', 'failed');
create index credit_grant_applications_due_idx
    on credit_grant_applications (tenant_id, environment_id, next_attempt_at)
 where application_status in ('pending', 'failed');
create index credit_grant_applications_subscription_id_idx
    on credit_grant_applications (tenant_id, environment_id, subscription_id);
