-- What a tenant pays itself: prices of an entity COSTSHEET, laid beside the revenue. The newest
-- published sheet is the active one. Locks nothing: the table is new.
create table costsheets (
  id text primary key,
  tenant_id text not null references tenants (id),
  environment_id text not null references environments (id),
  name text not null,
  lookup_key text,
  description text,
  metadata jsonb not null default '{}',
  status text not null default 'published',
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  created_by text not null default '',
  updated_by text not null default ''
);
create unique index costsheets_name_key on costsheets (tenant_id, environment_id, name)
 where status = 'published';
create unique index costsheets_lookup_key_key on costsheets (tenant_id, environment_id, lookup_key)
 where status = 'published' and lookup_key is not null;
create index costsheets_environment_id_idx on costsheets (tenant_id, environment_id, created_at desc, id desc);
