-- Invoices that are charged to a saved method without anybody asking: at their issue, and again after a declined
-- charge as the setting payment_retry_config says. Written in the transaction that issues the invoice; the row's
-- lock makes each charge happen once. No foreign key to invoices: a billing run issues an invoice before it
-- inserts it. Locks nothing: the table is new.
create table invoice_collections (
  invoice_id text primary key,
  tenant_id text not null references tenants (id),
  environment_id text not null references environments (id),
  customer_id text not null references customers (id),
  subscription_id text not null,
  collection_status text not null
    constraint invoice_collections_collection_status_check
    check (collection_status in ('scheduled', 'attempting', 'collected', 'exhausted', 'stopped')),
  -- Charges made so far.
  attempt_count integer not null default 0,
  next_attempt_at timestamptz(3),
  last_payment_id text,
  -- What remains to be done after the last retry has failed; null: nothing.
  pending_action text constraint invoice_collections_pending_action_check
    check (pending_action in ('cancel')),
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  constraint invoice_collections_next_attempt_at_check
    check ((collection_status = 'scheduled') = (next_attempt_at is not null))
);
create index invoice_collections_next_attempt_at_idx
    on invoice_collections (next_attempt_at) include (tenant_id, environment_id)
 where collection_status = 'scheduled';
create index invoice_collections_pending_action_idx
    on invoice_collections (tenant_id, environment_id) where pending_action is not null;
create index invoice_collections_subscription_id_idx
    on invoice_collections (tenant_id, environment_id, subscription_id);
