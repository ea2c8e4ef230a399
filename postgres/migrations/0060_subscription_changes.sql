-- The money of changes of running subscriptions, and their scheduled changes. The new tables lock nothing.
-- Recreating the index of periods locks `invoices` for the time of one index build.

-- One row per operation: the rows that it charged and credited, with and without an invoice. A later credit of
-- the same line reads from here what is left to credit (billing 5.3).
create table subscription_changes (
  id text primary key,
  tenant_id text not null,
  environment_id text not null,
  subscription_id text not null references subscriptions (id),
  kind text not null,
  -- The subscription and its sorted actions: the same operation is never settled twice (billing 5.3).
  operation_key text not null,
  effective_at timestamptz(3) not null,
  -- {line_item_id, kind, period_start, period_end, gross, net, tax}, decimals as text.
  rows jsonb not null,
  net numeric(38, 18) not null,
  invoice_id text,
  wallet_transaction_id text,
  status text not null default 'published',
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  created_by text not null default '',
  updated_by text not null default ''
);
create unique index subscription_changes_operation_key
    on subscription_changes (subscription_id, operation_key);

-- Changes with a date: cancellations and plan changes (billing 14.3).
create table subscription_schedules (
  id text primary key,
  tenant_id text not null,
  environment_id text not null,
  subscription_id text not null references subscriptions (id),
  schedule_type text not null constraint subscription_schedules_schedule_type_check
    check (schedule_type in ('plan_change', 'cancellation')),
  scheduled_at timestamptz(3) not null,
  schedule_status text not null constraint subscription_schedules_schedule_status_check
    check (schedule_status in ('pending', 'executing', 'executed', 'cancelled', 'failed')),
  configuration jsonb not null default '{}',
  execution_result jsonb,
  error_message text,
  executed_at timestamptz(3),
  cancelled_at timestamptz(3),
  metadata jsonb not null default '{}',
  status text not null default 'published',
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  created_by text not null default '',
  updated_by text not null default ''
);
create unique index subscription_schedules_pending_key
    on subscription_schedules (subscription_id, schedule_type) where schedule_status = 'pending';
create index subscription_schedules_environment_id_idx
    on subscription_schedules (tenant_id, environment_id, created_at desc, id desc);

-- Two changes at one instant both bill: their identity is the operation, not the period (billing 5.3).
drop index invoices_subscription_id_period_key;
create unique index invoices_subscription_id_period_key
    on invoices (subscription_id, period_start, period_end, billing_reason, revision)
 where subscription_id is not null and invoice_status <> 'VOIDED'
   and billing_reason <> 'SUBSCRIPTION_UPDATE';
