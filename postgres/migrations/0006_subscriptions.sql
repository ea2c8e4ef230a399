-- Subscriptions and their line items. A subscription keeps its own copy of everything that decides its
-- periods (anchor, zone, unit, count), so that a later change of the customer or the plan moves nothing
-- by itself (billing-semantics 1.1). Locks nothing: all tables are new.
create table subscriptions (
  id text primary key,
  tenant_id text not null,
  environment_id text not null,
  customer_id text not null,
  plan_id text not null,
  currency text not null,
  lookup_key text,
  metadata jsonb not null default '{}',
  subscription_status text not null constraint subscriptions_subscription_status_check
    check (subscription_status in ('active', 'paused', 'cancelled', 'incomplete', 'trialing', 'draft')),
  subscription_type text not null default 'standalone' constraint subscriptions_subscription_type_check
    check (subscription_type in ('standalone', 'delegated_invoicing', 'parent', 'inherited', 'grouped_invoicing')),
  billing_anchor timestamptz(3) not null,
  billing_cadence text not null default 'RECURRING',
  billing_cycle text not null,
  billing_period text not null,
  billing_period_count integer not null constraint subscriptions_billing_period_count_check
    check (billing_period_count >= 1),
  customer_timezone text not null,
  start_date timestamptz(3) not null,
  end_date timestamptz(3),
  current_period_start timestamptz(3) not null,
  current_period_end timestamptz(3) not null,
  trial_start timestamptz(3),
  trial_end timestamptz(3),
  cancel_at timestamptz(3),
  cancel_at_period_end boolean not null default false,
  cancelled_at timestamptz(3),
  -- How a scheduled cancellation charges its last period; null = like every other.
  cancel_proration_behavior text,
  collection_method text not null,
  payment_behavior text not null,
  payment_terms text,
  proration_behavior text not null,
  line_item_grouping text not null,
  gateway_payment_method_id text,
  commitment_amount numeric(38, 18),
  commitment_duration text,
  enable_true_up boolean not null default false,
  overage_factor numeric(38, 18) not null default 1,
  invoicing_customer_id text,
  parent_subscription_id text,
  pause_status text not null default 'none',
  active_pause_id text,
  -- The caller's selection of plan prices; null = those whose cadence matches. A later price sync asks.
  include_price_ids text[],
  synced_price_sequence bigint not null default 0,
  -- The last number given to an opening or cycle invoice of this subscription.
  last_billing_sequence integer not null default 0,
  -- When the clock next changes something: a period or trial ends, a cancellation takes effect, a future
  -- start is reached. Null when nothing is due by itself. The billing run reads nothing else.
  due_at timestamptz(3),
  -- Bumped by every change of the subscription or its line items: a computation that read an older
  -- version is thrown away.
  version integer not null default 1,
  status text not null default 'published',
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  created_by text not null default '',
  updated_by text not null default '',
  constraint subscriptions_period_check check (current_period_start < current_period_end)
);
create index subscriptions_due_at_idx on subscriptions (due_at) include (tenant_id, environment_id)
 where due_at is not null;
create index subscriptions_environment_id_due_at_idx
    on subscriptions (tenant_id, environment_id, due_at, id) where due_at is not null;
create index subscriptions_environment_id_idx on subscriptions (tenant_id, environment_id, created_at desc, id desc);
create index subscriptions_customer_id_idx on subscriptions (tenant_id, environment_id, customer_id);
create index subscriptions_plan_id_idx on subscriptions (tenant_id, environment_id, plan_id);

create table subscription_line_items (
  id text primary key,
  tenant_id text not null,
  environment_id text not null,
  subscription_id text not null references subscriptions (id),
  customer_id text not null,
  subscription_phase_id text,
  addon_association_id text,
  entity_type text not null,
  entity_id text not null,
  price_id text not null,
  price_type text not null,
  price_unit text,
  price_unit_id text,
  meter_id text,
  meter_display_name text,
  plan_display_name text,
  display_name text not null,
  currency text not null,
  quantity numeric(38, 18) not null,
  billing_period text not null,
  billing_period_count integer not null,
  invoice_cadence text not null,
  trial_period integer not null default 0,
  -- Half-open: the line bills [start_date, end_date). Open without an end.
  start_date timestamptz(3) not null,
  end_date timestamptz(3),
  commitment_amount numeric(38, 18),
  commitment_quantity numeric(38, 18),
  commitment_type text,
  commitment_duration text,
  commitment_overage_factor numeric(38, 18),
  commitment_true_up_enabled boolean not null default false,
  commitment_windowed boolean not null default false,
  metadata jsonb not null default '{}',
  status text not null default 'published',
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  created_by text not null default '',
  updated_by text not null default '',
  constraint subscription_line_items_dates_check check (end_date is null or start_date <= end_date)
);
create index subscription_line_items_subscription_id_idx
    on subscription_line_items (subscription_id, created_at, id);
create index subscription_line_items_price_id_idx
    on subscription_line_items (tenant_id, environment_id, price_id);
create index subscription_line_items_meter_id_idx
    on subscription_line_items (tenant_id, environment_id, meter_id) where meter_id is not null;
