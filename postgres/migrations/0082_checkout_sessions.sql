-- Checkout sessions: a payment page for one invoice and amount, with an end. One is active per target: two
-- tabs cannot pay the same invoice twice. Locks nothing: the table is new.
create table checkout_sessions (
  id text primary key,
  tenant_id text not null references tenants (id),
  environment_id text not null references environments (id),
  customer_id text not null references customers (id),
  action text not null,
  checkout_status text not null constraint checkout_sessions_checkout_status_check
    check (checkout_status in ('initiated', 'pending', 'completed', 'failed', 'expired')),
  payment_provider text not null,
  -- What the session is for: at most one active session of it.
  target_key text not null,
  checkout_invoice_id text references invoices (id),
  checkout_payment_id text references payments (id),
  configuration jsonb not null default '{}',
  payment_provider_config jsonb,
  idempotency_key text,
  success_url text,
  failure_url text,
  cancel_url text,
  expires_at timestamptz(3) not null,
  completed_at timestamptz(3),
  cancelled_at timestamptz(3),
  failure_reason text,
  metadata jsonb not null default '{}',
  status text not null default 'published',
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  created_by text not null default '',
  updated_by text not null default ''
);
create unique index checkout_sessions_target_key_key on checkout_sessions (tenant_id, environment_id, target_key)
 where checkout_status in ('initiated', 'pending');
create unique index checkout_sessions_idempotency_key_key
    on checkout_sessions (tenant_id, environment_id, idempotency_key)
 where checkout_status in ('initiated', 'pending') and idempotency_key is not null;
create index checkout_sessions_expires_at_idx on checkout_sessions (expires_at)
 where checkout_status in ('initiated', 'pending');
create index checkout_sessions_checkout_payment_id_idx
    on checkout_sessions (tenant_id, environment_id, checkout_payment_id);
