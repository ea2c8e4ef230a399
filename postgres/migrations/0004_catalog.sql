-- What is sold: meters, features, plans and addons with their prices and entitlements. A record that was
-- deleted stays, archived: old invoices point at it. Keys are unique among published records only, so
-- that the key of an archived one is free again. Numbers are exact: numeric(38, 18) everywhere.
-- Locks nothing: all tables are new.
create table groups (
  id text primary key,
  tenant_id text not null references tenants (id),
  environment_id text not null references environments (id),
  name text not null,
  lookup_key text not null,
  entity_type text not null constraint groups_entity_type_check check (entity_type in ('price', 'feature')),
  metadata jsonb not null default '{}',
  status text not null default 'published',
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  created_by text not null default '',
  updated_by text not null default ''
);
create unique index groups_lookup_key_key on groups (tenant_id, environment_id, lookup_key)
 where status = 'published';
create index groups_environment_id_idx on groups (tenant_id, environment_id, created_at desc, id desc);

-- The meter as it is edited. What the stream evaluates are its immutable versions (meter_versions); the
-- columns here are always those of the newest one.
create table meters (
  id text primary key,
  tenant_id text not null references tenants (id),
  environment_id text not null references environments (id),
  name text not null,
  event_name text not null,
  aggregation jsonb not null,
  filters jsonb not null default '[]',
  reset_usage text not null,
  -- Properties that prices filter on; together with aggregation.group_by the dimensions of the version.
  filtered_properties text[] not null default '{}',
  status text not null default 'published',
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  created_by text not null default '',
  updated_by text not null default ''
);
create index meters_environment_id_idx on meters (tenant_id, environment_id, created_at desc, id desc);

create table features (
  id text primary key,
  tenant_id text not null references tenants (id),
  environment_id text not null references environments (id),
  name text not null,
  lookup_key text not null,
  description text,
  type text not null constraint features_type_check check (type in ('metered', 'boolean', 'static', 'config')),
  meter_id text references meters (id),
  group_id text references groups (id),
  unit_singular text,
  unit_plural text,
  reporting_unit jsonb,
  alert_settings jsonb,
  metadata jsonb not null default '{}',
  status text not null default 'published',
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  created_by text not null default '',
  updated_by text not null default ''
);
create unique index features_lookup_key_key on features (tenant_id, environment_id, lookup_key)
 where status = 'published';
create index features_environment_id_idx on features (tenant_id, environment_id, created_at desc, id desc);
create index features_meter_id_idx on features (meter_id) where meter_id is not null;
create index features_group_id_idx on features (group_id) where group_id is not null;

create table plans (
  id text primary key,
  tenant_id text not null references tenants (id),
  environment_id text not null references environments (id),
  name text not null,
  description text,
  lookup_key text,
  display_order integer not null default 0,
  metadata jsonb not null default '{}',
  status text not null default 'published',
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  created_by text not null default '',
  updated_by text not null default ''
);
create unique index plans_lookup_key_key on plans (tenant_id, environment_id, lookup_key)
 where status = 'published' and lookup_key is not null;
create index plans_environment_id_idx on plans (tenant_id, environment_id, created_at desc, id desc);

create table addons (
  id text primary key,
  tenant_id text not null references tenants (id),
  environment_id text not null references environments (id),
  name text not null,
  description text,
  lookup_key text not null,
  type text not null default 'onetime',
  metadata jsonb not null default '{}',
  status text not null default 'published',
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  created_by text not null default '',
  updated_by text not null default ''
);
create unique index addons_lookup_key_key on addons (tenant_id, environment_id, lookup_key)
 where status = 'published';
create index addons_environment_id_idx on addons (tenant_id, environment_id, created_at desc, id desc);

-- A unit of its own that prices can be given in, with a rate to its base currency. Prices keep the rate
-- they were made with.
create table price_units (
  id text primary key,
  tenant_id text not null references tenants (id),
  environment_id text not null references environments (id),
  name text not null,
  code text not null,
  symbol text not null,
  base_currency text not null,
  conversion_rate numeric(38, 18) not null
    constraint price_units_conversion_rate_check check (conversion_rate > 0),
  metadata jsonb not null default '{}',
  status text not null default 'published',
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  created_by text not null default '',
  updated_by text not null default ''
);
create unique index price_units_code_key on price_units (tenant_id, environment_id, code)
 where status = 'published';
create index price_units_environment_id_idx on price_units (tenant_id, environment_id, created_at desc, id desc);

-- One version of a price. A pricing change ends the version and starts the next one at the same instant;
-- `parent_price_id` is the root of the lineage, its own id for a root. A price counts at t when
-- start_date <= t < end_date; without start_date it is valid from ever (billing-semantics 2.1, 2.7).
create table prices (
  id text primary key,
  tenant_id text not null references tenants (id),
  environment_id text not null references environments (id),
  type text not null,
  billing_model text not null,
  billing_period text not null,
  billing_period_count integer not null default 1,
  billing_cadence text not null default 'RECURRING',
  invoice_cadence text not null,
  currency text not null,
  amount numeric(38, 18) not null default 0,
  display_amount text not null,
  display_name text,
  description text,
  entity_type text not null,
  entity_id text not null,
  meter_id text references meters (id),
  filter_values jsonb not null default '{}',
  group_id text references groups (id),
  lookup_key text,
  metadata jsonb not null default '{}',
  min_quantity numeric(38, 18),
  price_unit_type text not null default 'FIAT',
  price_unit text,
  price_unit_id text references price_units (id),
  price_unit_amount numeric(38, 18) not null default 0,
  price_unit_tiers jsonb,
  display_price_unit_amount text,
  conversion_rate numeric(38, 18) not null default 1,
  tier_mode text,
  tiers jsonb,
  transform_quantity jsonb not null default '{"divide_by": 1, "round": null}',
  trial_period integer not null default 0,
  bucket_size text,
  start_date timestamptz(3),
  end_date timestamptz(3),
  parent_price_id text not null,
  -- Ascends with every change of any price of the environment's plans: who is behind on a price sync.
  sequence bigint generated always as identity,
  status text not null default 'published',
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  created_by text not null default '',
  updated_by text not null default '',
  constraint prices_amount_check check (amount >= 0),
  constraint prices_dates_check check (start_date is null or end_date is null or start_date <= end_date)
);
create unique index prices_lookup_key_key on prices (tenant_id, environment_id, lookup_key)
 where status = 'published' and lookup_key is not null and end_date is null;
create index prices_entity_id_idx on prices (tenant_id, environment_id, entity_type, entity_id, created_at desc, id desc);
create index prices_environment_id_idx on prices (tenant_id, environment_id, created_at desc, id desc);
create index prices_parent_price_id_idx on prices (parent_price_id);
create index prices_meter_id_idx on prices (meter_id) where meter_id is not null;
create index prices_group_id_idx on prices (group_id) where group_id is not null;

create table entitlements (
  id text primary key,
  tenant_id text not null references tenants (id),
  environment_id text not null references environments (id),
  entity_type text not null,
  entity_id text not null,
  feature_id text not null references features (id),
  feature_type text not null,
  is_enabled boolean not null,
  is_soft_limit boolean not null default false,
  -- Null is no limit, 0 is nothing.
  usage_limit bigint,
  usage_reset_period text,
  static_value text,
  config_value jsonb,
  aggregation_mode text not null default 'additive',
  grant_quota numeric(38, 18),
  grant_measure text,
  grant_duration_unit text,
  grant_duration_value integer,
  grant_allocation_behavior text,
  parent_entitlement_id text,
  display_order integer not null default 0,
  start_date timestamptz(3),
  end_date timestamptz(3),
  status text not null default 'published',
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  created_by text not null default '',
  updated_by text not null default '',
  constraint entitlements_usage_limit_check check (usage_limit >= 0)
);
create unique index entitlements_entity_id_feature_id_key
    on entitlements (tenant_id, environment_id, entity_type, entity_id, feature_id)
 where status = 'published';
create index entitlements_environment_id_idx on entitlements (tenant_id, environment_id, created_at desc, id desc);
create index entitlements_feature_id_idx on entitlements (feature_id);
