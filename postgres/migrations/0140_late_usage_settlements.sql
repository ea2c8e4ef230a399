-- A person settles late usage of a final invoice with a one-off invoice or a credit note. Each settlement stores
-- the money of each row that it settled: a later settlement settles only what has changed since. It counts as long
-- as its document is not void. Locks nothing: the table is new.
create table late_usage_settlements (
  -- The one-off invoice or the credit note.
  document_id text primary key,
  tenant_id text not null references tenants (id),
  environment_id text not null references environments (id),
  -- The invoice with late usage.
  invoice_id text not null,
  settled_as text not null
    constraint late_usage_settlements_settled_as_check check (settled_as in ('invoice', 'credit_note')),
  -- Settled rows with their amounts before tax; negative amounts are credits.
  shares jsonb not null,
  -- The positions of the log below which the usage was read.
  usage_watermarks jsonb not null,
  created_at timestamptz(3) not null default now(),
  created_by text not null
);
create index late_usage_settlements_invoice_id_idx
    on late_usage_settlements (tenant_id, environment_id, invoice_id);
