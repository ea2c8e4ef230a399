-- Discounts and taxes, and to what they are attached. Locks nothing: all tables are new.
create table coupons (
  id text primary key,
  tenant_id text not null references tenants (id),
  environment_id text not null references environments (id),
  name text not null,
  type text not null constraint coupons_type_check check (type in ('fixed', 'percentage')),
  amount_off numeric(38, 18) not null default 0,
  percentage_off numeric(38, 18) not null default 0,
  currency text,
  cadence text not null,
  duration_in_periods integer,
  max_redemptions integer,
  -- Raised by one with every association, in its transaction, and never above max_redemptions.
  total_redemptions integer not null default 0,
  redeem_after timestamptz(3),
  redeem_before timestamptz(3),
  coupon_code text,
  rules jsonb,
  metadata jsonb not null default '{}',
  status text not null default 'published',
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  created_by text not null default '',
  updated_by text not null default '',
  constraint coupons_redemptions_check check (max_redemptions is null or total_redemptions <= max_redemptions)
);
create unique index coupons_coupon_code_key on coupons (tenant_id, environment_id, coupon_code)
 where status = 'published' and coupon_code is not null;
create index coupons_environment_id_idx on coupons (tenant_id, environment_id, created_at desc, id desc);

create table coupon_associations (
  id text primary key,
  tenant_id text not null references tenants (id),
  environment_id text not null references environments (id),
  coupon_id text not null references coupons (id),
  subscription_id text not null references subscriptions (id),
  subscription_line_item_id text,
  subscription_phase_id text,
  start_date timestamptz(3) not null,
  end_date timestamptz(3),
  metadata jsonb not null default '{}',
  status text not null default 'published',
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  created_by text not null default '',
  updated_by text not null default ''
);
create index coupon_associations_environment_id_idx
    on coupon_associations (tenant_id, environment_id, created_at desc, id desc);
create index coupon_associations_subscription_id_idx on coupon_associations (subscription_id);
create index coupon_associations_coupon_id_idx on coupon_associations (coupon_id);

create table tax_rates (
  id text primary key,
  tenant_id text not null references tenants (id),
  environment_id text not null references environments (id),
  name text not null,
  code text not null,
  description text,
  tax_rate_type text not null default 'percentage',
  percentage_value numeric(38, 18) not null
    constraint tax_rates_percentage_value_check check (percentage_value between 0 and 100),
  scope text not null default 'INTERNAL',
  tax_rate_status text not null default 'ACTIVE',
  metadata jsonb not null default '{}',
  status text not null default 'published',
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  created_by text not null default '',
  updated_by text not null default ''
);
create unique index tax_rates_code_key on tax_rates (tenant_id, environment_id, code)
 where status = 'published';
create index tax_rates_environment_id_idx on tax_rates (tenant_id, environment_id, created_at desc, id desc);

create table tax_associations (
  id text primary key,
  tenant_id text not null references tenants (id),
  environment_id text not null references environments (id),
  tax_rate_id text not null references tax_rates (id),
  entity_type text not null,
  entity_id text not null,
  priority integer not null default 0,
  auto_apply boolean not null default false,
  -- Null: for every currency.
  currency text,
  tax_behavior text not null default 'exclusive',
  start_date timestamptz(3) not null,
  end_date timestamptz(3),
  metadata jsonb not null default '{}',
  status text not null default 'published',
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  created_by text not null default '',
  updated_by text not null default ''
);
-- One rate counts once for an entity and a currency; an ended association makes room for the next.
create unique index tax_associations_entity_key on tax_associations
    (tenant_id, environment_id, entity_type, entity_id, tax_rate_id, coalesce(currency, ''))
 where status = 'published' and end_date is null;
create index tax_associations_environment_id_idx
    on tax_associations (tenant_id, environment_id, created_at desc, id desc);
create index tax_associations_tax_rate_id_idx on tax_associations (tax_rate_id);
