-- Accounts at other services, what of ours is what of theirs, and the exports that are to run by the clock.
-- The credentials of a connection are one sealed text (AES-256-GCM, bound to the tenant and this column);
-- a deleted connection keeps none. One published connection of a provider stands in an environment
-- (money-semantics 19.6), a mapping is unique both ways (19.9). Locks nothing: all tables are new.
create table connections (
  id text primary key,
  tenant_id text not null references tenants (id),
  environment_id text not null references environments (id),
  name text not null,
  provider_type text not null,
  secret_data text,
  -- Which account of the gateway new cards are stored in.
  gateway_account_id text,
  sync_config jsonb not null,
  metadata jsonb not null default '{}',
  status text not null default 'published',
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  created_by text not null default '',
  updated_by text not null default '',
  constraint connections_secret_data_check check (status = 'published' or secret_data is null)
);
create unique index connections_provider_type_key on connections (tenant_id, environment_id, provider_type)
 where status = 'published';
create index connections_environment_id_idx
    on connections (tenant_id, environment_id, created_at desc, id desc);

create table integration_mappings (
  id text primary key,
  tenant_id text not null references tenants (id),
  environment_id text not null references environments (id),
  entity_type text not null,
  entity_id text not null,
  provider_type text not null,
  provider_entity_id text not null,
  metadata jsonb not null default '{}',
  status text not null default 'published',
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  created_by text not null default '',
  updated_by text not null default ''
);
create unique index integration_mappings_entity_key on integration_mappings
    (tenant_id, environment_id, entity_type, entity_id, provider_type) where status = 'published';
create unique index integration_mappings_provider_entity_key on integration_mappings
    (tenant_id, environment_id, entity_type, provider_type, provider_entity_id) where status = 'published';

create table scheduled_tasks (
  id text primary key,
  tenant_id text not null references tenants (id),
  environment_id text not null references environments (id),
  connection_id text not null references connections (id),
  entity_type text not null,
  "interval" text not null,
  enabled boolean not null,
  job_config jsonb not null,
  status text not null default 'published',
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  created_by text not null default '',
  updated_by text not null default ''
);
create index scheduled_tasks_environment_id_idx
    on scheduled_tasks (tenant_id, environment_id, created_at desc, id desc);
create index scheduled_tasks_connection_id_idx on scheduled_tasks (connection_id);
