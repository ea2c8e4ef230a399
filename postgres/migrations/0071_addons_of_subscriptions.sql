-- Addons of subscriptions, and the earlier states of entitlements. Locks nothing: all tables are new.
create table addon_associations (
  id text primary key,
  tenant_id text not null references tenants (id),
  environment_id text not null references environments (id),
  subscription_id text not null,
  addon_id text not null references addons (id),
  quantity numeric(38, 18) not null,
  addon_status text not null constraint addon_associations_addon_status_check
    check (addon_status in ('active', 'cancelled', 'pending')),
  -- Half-open: the addon is in force in [start_date, end_date). Open without an end.
  start_date timestamptz(3) not null,
  end_date timestamptz(3),
  cancelled_at timestamptz(3),
  cancellation_reason text,
  metadata jsonb not null default '{}',
  status text not null default 'published',
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  created_by text not null default '',
  updated_by text not null default ''
);
create index addon_associations_subscription_id_idx on addon_associations (subscription_id);
create index addon_associations_addon_id_idx on addon_associations (addon_id);

-- What an entitlement granted before a change. A period is billed by what was granted when it ended.
create table entitlement_history (
  entitlement_id text not null references entitlements (id),
  tenant_id text not null references tenants (id),
  environment_id text not null references environments (id),
  -- The instant of the change, exclusive: the state applied until then.
  valid_to timestamptz(3) not null,
  -- The row of `entitlements` before the change.
  state jsonb not null
);
create index entitlement_history_entitlement_id_idx
    on entitlement_history (entitlement_id, valid_to);
