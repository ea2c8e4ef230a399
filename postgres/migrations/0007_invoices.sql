-- Invoices, their lines and their numbers. What must never happen twice is a unique index here, because
-- jobs, the API and retries compute invoices at the same time. Locks nothing: all tables are new.
create table invoices (
  id text primary key,
  tenant_id text not null,
  environment_id text not null,
  customer_id text not null,
  subscription_id text references subscriptions (id),
  subscription_customer_id text,
  invoice_number text,
  invoice_type text not null constraint invoices_invoice_type_check
    check (invoice_type in ('SUBSCRIPTION', 'ONE_OFF', 'CREDIT')),
  invoice_status text not null constraint invoices_invoice_status_check
    check (invoice_status in ('DRAFT', 'FINALIZED', 'VOIDED', 'SKIPPED')),
  payment_status text not null,
  currency text not null,
  description text,
  billing_period text,
  billing_reason text,
  billing_sequence integer,
  -- Rounded to the currency's minor unit where they are made (billing-semantics 0.2); never patched one
  -- by one: all are written together by the function that computes them (9.3).
  subtotal numeric(38, 18) not null default 0,
  total numeric(38, 18) not null default 0,
  total_discount numeric(38, 18) not null default 0,
  total_tax numeric(38, 18) not null default 0,
  total_prepaid_credits_applied numeric(38, 18) not null default 0,
  amount_due numeric(38, 18) not null default 0,
  amount_paid numeric(38, 18) not null default 0,
  amount_remaining numeric(38, 18) not null default 0,
  adjustment_amount numeric(38, 18) not null default 0,
  overpaid_amount numeric(38, 18) not null default 0,
  refunded_amount numeric(38, 18) not null default 0,
  period_start timestamptz(3),
  period_end timestamptz(3),
  due_date timestamptz(3),
  issue_date timestamptz(3),
  finalized_at timestamptz(3),
  paid_at timestamptz(3),
  voided_at timestamptz(3),
  last_computed_at timestamptz(3),
  idempotency_key text,
  invoice_pdf_url text,
  recalculated_invoice_id text,
  is_manually_edited boolean not null default false,
  source_type text,
  tax_summary jsonb,
  metadata jsonb not null default '{}',
  -- Tells apart invoices that one operation raises for one period with one reason; 0 for opening and cycle.
  revision integer not null default 0,
  version integer not null default 1,
  -- How stubs and cut periods are charged, as it was when the invoice was made: computing it again later
  -- must not charge otherwise.
  proration_behavior text not null default 'none',
  -- What the usage on this invoice was read from: the meter versions, and per log partition the position
  -- below which every event counts. Reading again below it gives the same numbers (metering 5).
  meter_version_ids text[] not null default '{}',
  usage_watermarks jsonb,
  -- When the grace after the period is over and the finalizing job looks at it, once; null = nothing to
  -- do for the job. A skipped invoice is looked at too, because late usage can give it value.
  finalize_after timestamptz(3),
  -- The log's heads, noted after the grace: every event accepted in time lies below them.
  stream_heads jsonb,
  -- Why the job gave the invoice up; a person decides.
  finalize_refusal text,
  status text not null default 'published',
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  created_by text not null default '',
  updated_by text not null default '',
  constraint invoices_period_check check (period_start <= period_end),
  constraint invoices_number_check check ((invoice_number is null) = (finalized_at is null)),
  constraint invoices_amounts_check check (total >= 0 and amount_due >= 0 and amount_remaining >= 0)
);
-- One living invoice per period and kind (billing-semantics 17.1); a void one gives its slot back.
create unique index invoices_subscription_id_period_key
    on invoices (subscription_id, period_start, period_end, billing_reason, revision)
 where subscription_id is not null and invoice_status <> 'VOIDED';
create unique index invoices_invoice_number_key
    on invoices (tenant_id, environment_id, invoice_number) where invoice_number is not null;
create unique index invoices_idempotency_key_key
    on invoices (tenant_id, environment_id, idempotency_key) where idempotency_key is not null;
create index invoices_finalize_after_idx on invoices (finalize_after)
  include (tenant_id, environment_id) where finalize_after is not null;
create index invoices_environment_id_finalize_after_idx
    on invoices (tenant_id, environment_id, finalize_after, id) where finalize_after is not null;
create index invoices_environment_id_idx on invoices (tenant_id, environment_id, created_at desc, id desc);
create index invoices_customer_id_idx on invoices (tenant_id, environment_id, customer_id, created_at desc);
create index invoices_subscription_id_idx on invoices (subscription_id, created_at desc);

create table invoice_line_items (
  id text primary key,
  tenant_id text not null,
  environment_id text not null,
  invoice_id text not null references invoices (id),
  customer_id text not null,
  subscription_id text,
  subscription_line_item_id text,
  -- base, overage, true_up or credit: with the line item and the service start, what a row is (3.1).
  kind text not null default 'base',
  -- The row's place on the invoice, from 0.
  position integer not null,
  entity_type text,
  entity_id text,
  price_id text,
  price_type text,
  price_unit text,
  price_unit_id text,
  price_unit_amount numeric(38, 18),
  meter_id text,
  meter_display_name text,
  plan_display_name text,
  display_name text,
  currency text not null,
  quantity numeric(38, 18) not null,
  amount numeric(38, 18) not null,
  line_item_discount numeric(38, 18) not null default 0,
  invoice_level_discount numeric(38, 18) not null default 0,
  prepaid_credits_applied numeric(38, 18) not null default 0,
  adjusted_entitlement_quantity numeric(38, 18),
  commitment_info jsonb,
  parent_line_item_id text,
  period_start timestamptz(3),
  period_end timestamptz(3),
  metadata jsonb not null default '{}',
  -- How quantity and amount came about, written with them and never recomputed.
  explanation jsonb,
  -- The usage questions behind the quantity, as they were asked.
  usage_queries jsonb not null default '[]',
  -- What was asked beside them to tell how much of it is free.
  allowance_queries jsonb not null default '[]',
  -- False once the invoice is void: what the row billed may be billed again.
  holds_slot boolean not null default true,
  status text not null default 'published',
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  created_by text not null default '',
  updated_by text not null default ''
);
create index invoice_line_items_invoice_id_idx on invoice_line_items (invoice_id, position);
-- One service window of one line item is billed once, whichever invoice carries it (3.1).
create unique index invoice_line_items_identity_key
    on invoice_line_items (subscription_line_item_id, period_start, kind)
 where subscription_line_item_id is not null and holds_slot;

-- The last number given, per bucket (for example 202611). Taken in the finalizing transaction under the
-- row's lock, so that a rollback leaves no gap (17.5).
create table invoice_number_sequences (
  tenant_id text not null,
  environment_id text not null,
  bucket text not null,
  last_number integer not null,
  primary key (tenant_id, environment_id, bucket)
);
