-- Sessions of end customers in the portal: one customer of one environment, at most an hour. What the
-- browser holds is kept as its hash; archiving the customer ends it, because the customer's row is looked
-- at with every request. Locks nothing: the table is new.
create table portal_sessions (
  id text primary key,
  tenant_id text not null references tenants (id),
  environment_id text not null references environments (id),
  customer_id text not null references customers (id),
  token_hash bytea not null,
  expires_at timestamptz(3) not null,
  status text not null default 'published',
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  created_by text not null default '',
  updated_by text not null default ''
);
create unique index portal_sessions_token_hash_key on portal_sessions (token_hash);
create index portal_sessions_customer_id_idx on portal_sessions (tenant_id, environment_id, customer_id, expires_at);
