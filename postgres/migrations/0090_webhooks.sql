-- Endpoints that receive notifications, one delivery per endpoint and notification, and each attempt of it.
-- Locks nothing: the tables are new.
create table webhook_endpoints (
  id text primary key,
  tenant_id text not null,
  environment_id text not null,
  url text not null,
  description text,
  -- Empty: every event.
  event_types text[] not null,
  enabled boolean not null,
  disabled_reason text,
  -- Since when every attempt has failed; null after a success.
  failing_since timestamptz(3),
  secret text not null,
  -- The secret before a rotation; it signs too until it ends.
  previous_secret text,
  previous_secret_ends_at timestamptz(3),
  status text not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  created_by text not null,
  updated_by text not null
);
create index webhook_endpoints_scope_idx on webhook_endpoints (tenant_id, environment_id, created_at desc);

create table webhook_deliveries (
  id text primary key,
  tenant_id text not null,
  environment_id text not null,
  endpoint_id text not null references webhook_endpoints (id),
  -- The notification: its id in the outbox, which is the webhook-id of every attempt.
  event_id text not null,
  sequence bigint not null,
  event_type text not null,
  entity_type text not null,
  entity_id text not null,
  delivery_status text not null
    constraint webhook_deliveries_status_check check (delivery_status in ('pending', 'delivered', 'exhausted')),
  attempts int not null default 0,
  -- Null: an earlier event of the same entity is not delivered yet, or nothing is left to do.
  due_at timestamptz(3),
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  constraint webhook_deliveries_event_key unique (endpoint_id, event_id)
);
create index webhook_deliveries_due_idx on webhook_deliveries (endpoint_id, due_at, sequence)
 where due_at is not null;
create index webhook_deliveries_order_idx on webhook_deliveries (endpoint_id, entity_type, entity_id, sequence)
 where delivery_status = 'pending';
create index webhook_deliveries_event_idx on webhook_deliveries (tenant_id, environment_id, event_id);

create table webhook_attempts (
  id text primary key,
  tenant_id text not null,
  environment_id text not null,
  endpoint_id text not null references webhook_endpoints (id),
  event_id text not null,
  event_type text not null,
  attempt int not null,
  created_at timestamptz(3) not null,
  duration_ms int not null,
  -- Null: no answer.
  status_code int,
  error text,
  request_headers jsonb not null,
  request_body text not null,
  response_headers jsonb,
  response_body text
);
create index webhook_attempts_endpoint_idx on webhook_attempts (tenant_id, environment_id, endpoint_id, created_at desc);
create index webhook_attempts_created_at_idx on webhook_attempts (created_at);

create index outbox_occurred_at_idx on outbox (tenant_id, environment_id, occurred_at);
