-- Who uses the product: tenants, their environments, people and service accounts, and API keys.
-- Every other table carries (tenant_id, environment_id). Locks nothing: all tables are new.
create table tenants (
  id text primary key,
  name text not null,
  status text not null default 'published',
  metadata jsonb not null default '{}',
  billing_details jsonb,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now()
);

create table environments (
  id text primary key,
  tenant_id text not null references tenants (id),
  name text not null,
  type text not null constraint environments_type_check check (type in ('production', 'development')),
  status text not null default 'published',
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  created_by text not null default '',
  updated_by text not null default ''
);
create index environments_tenant_id_idx on environments (tenant_id, created_at);

create table users (
  id text primary key,
  tenant_id text not null references tenants (id),
  email text,
  name text,
  type text not null constraint users_type_check check (type in ('user', 'service_account')),
  roles text[] not null default '{}',
  password_hash text,
  metadata jsonb not null default '{}',
  status text not null default 'published',
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  created_by text not null default '',
  updated_by text not null default ''
);
create unique index users_email_key on users (lower(email)) where email is not null and status = 'published';
create index users_tenant_id_idx on users (tenant_id, created_at);

-- A key is shown once; what is kept is its SHA-256 (fast is right for 256 random bits) and a hint to
-- tell keys apart. `key_hash` is looked up on every request, hence the unique index.
create table api_keys (
  id text primary key,
  tenant_id text not null references tenants (id),
  environment_id text not null references environments (id),
  user_id text references users (id),
  name text not null,
  type text not null default 'private_key',
  key_hash bytea not null,
  display_id text not null,
  roles text[] not null default '{}',
  permissions text[] not null default '{}',
  expires_at timestamptz,
  last_used_at timestamptz,
  status text not null default 'published',
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  created_by text not null default '',
  updated_by text not null default ''
);
create unique index api_keys_key_hash_key on api_keys (key_hash);
create index api_keys_environment_id_idx on api_keys (tenant_id, environment_id, created_at);
