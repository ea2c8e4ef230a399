-- Methods by which customers pay again: the gateway keeps the card, the row here is its name. One default per
-- customer, so that a charge without a named method has one answer. The test gateway keeps the method that paid,
-- because it is told which one to save. Adding a nullable column takes a short lock and rewrites nothing.
create table payment_methods (
  id text primary key,
  tenant_id text not null references tenants (id),
  environment_id text not null references environments (id),
  customer_id text not null references customers (id),
  connection_id text not null references connections (id),
  payment_gateway text not null,
  -- The gateway's id of the method; never a card number.
  gateway_method_id text not null,
  method_type text not null,
  brand text,
  last4 text,
  exp_month integer,
  exp_year integer,
  is_default boolean not null default false,
  metadata jsonb not null default '{}',
  status text not null default 'published',
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  created_by text not null default '',
  updated_by text not null default ''
);
create unique index payment_methods_gateway_method_id_key
    on payment_methods (customer_id, connection_id, gateway_method_id) where status = 'published';
create unique index payment_methods_is_default_key
    on payment_methods (customer_id) where is_default and status = 'published';
create index payment_methods_customer_id_idx
    on payment_methods (tenant_id, environment_id, customer_id, created_at desc, id desc);

alter table test_gateway_payments add column method text;
