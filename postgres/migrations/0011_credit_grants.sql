-- Credits that a plan, an addon or a subscription grants. Grants of plans and addons are templates that
-- a subscription copies; a subscription's grant runs on a schedule of applications (money-semantics 5).
-- Locks nothing: the table is new.
create table credit_grants (
  id text primary key,
  tenant_id text not null references tenants (id),
  environment_id text not null references environments (id),
  name text not null,
  scope text not null constraint credit_grants_scope_check check (scope in ('PLAN', 'SUBSCRIPTION', 'ADDON')),
  plan_id text,
  addon_id text,
  subscription_id text,
  credits numeric(38, 18) not null constraint credit_grants_credits_check check (credits > 0),
  conversion_rate numeric(38, 18),
  topup_conversion_rate numeric(38, 18),
  cadence text not null,
  period text,
  period_count integer,
  expiration_type text not null,
  expiration_duration integer,
  expiration_duration_unit text,
  priority integer,
  credit_grant_anchor timestamptz(3),
  start_date timestamptz(3),
  end_date timestamptz(3),
  metadata jsonb not null default '{}',
  status text not null default 'published',
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  created_by text not null default '',
  updated_by text not null default ''
);
create index credit_grants_environment_id_idx on credit_grants (tenant_id, environment_id, created_at desc, id desc);
create index credit_grants_plan_id_idx on credit_grants (plan_id) where plan_id is not null;
create index credit_grants_addon_id_idx on credit_grants (addon_id) where addon_id is not null;
create index credit_grants_subscription_id_idx on credit_grants (subscription_id) where subscription_id is not null;
