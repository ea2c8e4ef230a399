-- At what spend a subscription, one of its line items or a price group raises an alert, and the log of the
-- alerts that were raised. One published setting stands for an entity and its parent; a deleted one makes
-- room for the next (money-semantics 20.1). The log is appended to, one row for each change of state of
-- one stream (4.7). Locks nothing: both tables are new.
create table alert_settings (
  id text primary key,
  tenant_id text not null references tenants (id),
  environment_id text not null references environments (id),
  entity_type text not null constraint alert_settings_entity_type_check
    check (entity_type in ('subscription', 'subscription_line_item', 'group')),
  entity_id text not null,
  parent_entity_type text,
  parent_entity_id text,
  enabled boolean not null,
  config jsonb not null,
  status text not null default 'published',
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  created_by text not null default '',
  updated_by text not null default '',
  constraint alert_settings_parent_check check ((parent_entity_type is null) = (parent_entity_id is null))
);
create unique index alert_settings_entity_key on alert_settings
    (tenant_id, environment_id, entity_type, entity_id, coalesce(parent_entity_id, ''))
 where status = 'published';
create index alert_settings_environment_id_idx
    on alert_settings (tenant_id, environment_id, created_at desc, id desc);
create index alert_settings_parent_entity_id_idx
    on alert_settings (tenant_id, environment_id, parent_entity_id) where parent_entity_id is not null;

create table alert_logs (
  id text primary key,
  tenant_id text not null references tenants (id),
  environment_id text not null references environments (id),
  entity_type text not null,
  entity_id text not null,
  parent_entity_type text,
  parent_entity_id text,
  customer_id text,
  alert_type text not null,
  alert_status text not null constraint alert_logs_alert_status_check
    check (alert_status in ('ok', 'info', 'warning', 'in_alarm')),
  -- {alert_settings, value_at_time, timestamp} as they were when the state changed.
  alert_info jsonb not null,
  status text not null default 'published',
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  created_by text not null default '',
  updated_by text not null default ''
);
create index alert_logs_environment_id_idx
    on alert_logs (tenant_id, environment_id, created_at desc, id desc);
create index alert_logs_entity_id_idx
    on alert_logs (tenant_id, environment_id, entity_id, alert_type, created_at desc, id desc);
