-- What is to be done for new customers by the setting customer_onboarding (tenancy 16): one row for each customer,
-- written with it, and the actions as the setting had them then. Each action is done in one transaction with the
-- move of `next_action`, so it is done once. No foreign key to customers: one statement writes both rows.
-- Locks nothing: the table is new.
create table customer_onboardings (
  id text primary key,
  tenant_id text not null references tenants (id),
  environment_id text not null references environments (id),
  customer_id text not null
    constraint customer_onboardings_customer_id_key unique,
  actions jsonb not null,
  -- Index of the first action that is not done.
  next_action integer not null default 0,
  onboarding_status text not null default 'PENDING'
    constraint customer_onboardings_onboarding_status_check
    check (onboarding_status in ('PENDING', 'COMPLETED', 'FAILED')),
  -- The actions that were refused, and why.
  error_summary text,
  -- Attempts of the next action that ended with an unexpected error.
  attempts integer not null default 0,
  due_at timestamptz(3) not null,
  completed_at timestamptz(3),
  created_at timestamptz(3) not null,
  created_by text not null
);
create index customer_onboardings_due_at_idx
    on customer_onboardings (due_at, id) where onboarding_status = 'PENDING';
create index customer_onboardings_created_at_idx
    on customer_onboardings (tenant_id, environment_id, created_at);
