-- What a tenant has set. A setting of the tenant has the empty environment: the key alone then tells the
-- scope, and one unique constraint serves both. Locks nothing: the table is new.
create table settings (
  id text primary key,
  tenant_id text not null references tenants (id),
  environment_id text not null,
  key text not null,
  value jsonb not null,
  status text not null default 'published',
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  created_by text not null default '',
  updated_by text not null default '',
  constraint settings_key_key unique (tenant_id, environment_id, key)
);
