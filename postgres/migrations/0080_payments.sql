-- Money after the invoice: payments with their attempts, refunds, credit notes. Every amount of an invoice
-- that depends on them is derived from these rows (money 8.4.1); nothing is incremented. What must happen
-- once is a unique index, because requests, jobs and gateways race. Locks nothing: all tables are new.
create table payments (
  id text primary key,
  tenant_id text not null references tenants (id),
  environment_id text not null references environments (id),
  destination_type text not null constraint payments_destination_type_check
    check (destination_type in ('INVOICE', 'CUSTOMER')),
  destination_id text not null,
  customer_id text not null,
  payment_method_type text not null constraint payments_payment_method_type_check
    check (payment_method_type in ('CARD', 'ACH', 'OFFLINE', 'CREDITS', 'PAYMENT_LINK', 'UPI')),
  payment_method_id text,
  payment_gateway text,
  -- The connection whose gateway moves the money; null when the tenant reports the outcome.
  connection_id text,
  gateway_payment_id text,
  gateway_tracking_id text,
  gateway_metadata jsonb not null default '{}',
  amount numeric(38, 18) not null constraint payments_amount_check check (amount > 0),
  currency text not null,
  payment_status text not null constraint payments_payment_status_check
    check (payment_status in ('INITIATED', 'PENDING', 'PROCESSING', 'SUCCEEDED', 'OVERPAID', 'FAILED',
                              'REFUNDED', 'PARTIALLY_REFUNDED', 'VOIDED')),
  -- Written by the manual payment status of an invoice; such rows replace each other (money 8.4.4).
  is_manual boolean not null default false,
  track_attempts boolean not null default false,
  payment_url text,
  success_url text,
  cancel_url text,
  save_card_and_make_default boolean not null default false,
  idempotency_key text not null,
  -- What was asked for: the same key with another content is refused (money 8.2.1).
  request_fingerprint text not null,
  -- Set without a key of the caller: equal requests fall together while the first is in flight (8.2.2).
  implicit_key text,
  error_message text,
  succeeded_at timestamptz(3),
  failed_at timestamptz(3),
  refunded_at timestamptz(3),
  voided_at timestamptz(3),
  -- When the gateway was last asked about it.
  last_synced_at timestamptz(3),
  metadata jsonb not null default '{}',
  status text not null default 'published',
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  created_by text not null default '',
  updated_by text not null default ''
);
create unique index payments_idempotency_key_key on payments (tenant_id, environment_id, idempotency_key)
 where status = 'published' and implicit_key is null and not is_manual;
create unique index payments_implicit_key_key on payments (tenant_id, environment_id, implicit_key)
 where status = 'published' and implicit_key is not null
   and payment_status in ('INITIATED', 'PENDING', 'PROCESSING');
create unique index payments_gateway_payment_id_key on payments (connection_id, gateway_payment_id)
 where connection_id is not null and gateway_payment_id is not null;
create index payments_environment_id_idx on payments (tenant_id, environment_id, created_at desc, id desc);
create index payments_destination_id_idx
    on payments (tenant_id, environment_id, destination_id, created_at desc, id desc);
-- Payments whose outcome only the gateway knows: reconciled by a job.
create index payments_in_flight_idx on payments (created_at) include (tenant_id, environment_id)
 where connection_id is not null and payment_status in ('INITIATED', 'PENDING', 'PROCESSING')
   and status = 'published';

-- Appended to: a declined attempt does not fail the payment while it can still be paid (money 8.3.6).
create table payment_attempts (
  id text primary key,
  tenant_id text not null references tenants (id),
  environment_id text not null references environments (id),
  payment_id text not null references payments (id),
  attempt_number integer not null,
  payment_status text not null,
  error_message text,
  gateway_attempt_id text,
  -- Sent to the gateway with the charge and stored before it (money 8.2.4).
  gateway_idempotency_token text,
  metadata jsonb not null default '{}',
  status text not null default 'published',
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  created_by text not null default '',
  updated_by text not null default '',
  constraint payment_attempts_attempt_number_key unique (payment_id, attempt_number)
);

create table credit_notes (
  id text primary key,
  tenant_id text not null references tenants (id),
  environment_id text not null references environments (id),
  credit_note_number text not null,
  invoice_id text not null references invoices (id),
  customer_id text not null,
  subscription_id text,
  credit_note_status text not null constraint credit_notes_credit_note_status_check
    check (credit_note_status in ('DRAFT', 'FINALIZED', 'VOIDED')),
  credit_note_type text not null constraint credit_notes_credit_note_type_check
    check (credit_note_type in ('ADJUSTMENT', 'REFUND')),
  refund_target text constraint credit_notes_refund_target_check
    check (refund_target in ('PREPAID_WALLET', 'BACK_TO_SOURCE')),
  reason text not null,
  memo text,
  currency text not null,
  total_amount numeric(38, 18) not null constraint credit_notes_total_amount_check check (total_amount > 0),
  idempotency_key text not null,
  request_fingerprint text not null,
  finalized_at timestamptz(3),
  voided_at timestamptz(3),
  metadata jsonb not null default '{}',
  status text not null default 'published',
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  created_by text not null default '',
  updated_by text not null default '',
  constraint credit_notes_refund_check check ((credit_note_type = 'REFUND') = (refund_target is not null))
);
-- A voided note releases its key (money 10.12).
create unique index credit_notes_idempotency_key_key
    on credit_notes (tenant_id, environment_id, idempotency_key) where credit_note_status <> 'VOIDED';
create unique index credit_notes_credit_note_number_key
    on credit_notes (tenant_id, environment_id, credit_note_number);
create index credit_notes_environment_id_idx
    on credit_notes (tenant_id, environment_id, created_at desc, id desc);
create index credit_notes_invoice_id_idx on credit_notes (tenant_id, environment_id, invoice_id);

create table credit_note_lines (
  id text primary key,
  tenant_id text not null references tenants (id),
  environment_id text not null references environments (id),
  credit_note_id text not null references credit_notes (id),
  -- A row of the invoice, or 'tax' for the exclusive tax of the credited rows (money 10.6).
  invoice_line_item_id text not null,
  position integer not null,
  display_name text,
  amount numeric(38, 18) not null constraint credit_note_lines_amount_check check (amount > 0),
  currency text not null,
  metadata jsonb not null default '{}',
  status text not null default 'published',
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  created_by text not null default '',
  updated_by text not null default ''
);
create index credit_note_lines_credit_note_id_idx on credit_note_lines (credit_note_id, position);

create table refunds (
  id text primary key,
  tenant_id text not null references tenants (id),
  environment_id text not null references environments (id),
  payment_id text not null references payments (id),
  -- Null for a payment to a customer.
  invoice_id text references invoices (id),
  customer_id text not null,
  credit_note_id text references credit_notes (id),
  refund_target text not null constraint refunds_refund_target_check
    check (refund_target in ('PREPAID_WALLET', 'BACK_TO_SOURCE')),
  wallet_transaction_id text,
  payment_gateway text,
  gateway_refund_id text,
  gateway_tracking_id text,
  gateway_metadata jsonb not null default '{}',
  -- Sent to the gateway and stored before it (money 9.3).
  gateway_idempotency_token text,
  amount numeric(38, 18) not null constraint refunds_amount_check check (amount > 0),
  currency text not null,
  refund_status text not null constraint refunds_refund_status_check
    check (refund_status in ('PENDING', 'PROCESSING', 'SUCCEEDED', 'FAILED', 'CANCELLED')),
  refund_reason text not null,
  idempotency_key text not null,
  failure_reason text,
  -- The failed refund that this one pays into the wallet.
  retry_of text references refunds (id),
  initiated_at timestamptz(3),
  succeeded_at timestamptz(3),
  failed_at timestamptz(3),
  cancelled_at timestamptz(3),
  metadata jsonb not null default '{}',
  status text not null default 'published',
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  created_by text not null default '',
  updated_by text not null default ''
);
create unique index refunds_idempotency_key_key on refunds (tenant_id, environment_id, idempotency_key);
create unique index refunds_retry_of_key on refunds (retry_of) where retry_of is not null;
create unique index refunds_gateway_refund_id_key on refunds (payment_id, gateway_refund_id)
 where gateway_refund_id is not null;
create index refunds_environment_id_idx on refunds (tenant_id, environment_id, created_at desc, id desc);
create index refunds_payment_id_idx on refunds (tenant_id, environment_id, payment_id);
create index refunds_invoice_id_idx on refunds (tenant_id, environment_id, invoice_id);
create index refunds_in_flight_idx on refunds (created_at) include (tenant_id, environment_id)
 where refund_status in ('PENDING', 'PROCESSING');
