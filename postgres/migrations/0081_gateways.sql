-- What gateways tell us, each event once, and the payments of the built-in test gateway, which stands for a
-- service elsewhere: it keeps its own rows and knows ours by reference only. Locks nothing: new tables.
create table gateway_events (
  id text primary key,
  tenant_id text not null references tenants (id),
  environment_id text not null references environments (id),
  connection_id text not null references connections (id),
  -- The gateway's id of the event: handled once.
  event_id text not null,
  kind text not null,
  payment_id text,
  gateway_payment_id text,
  -- set_aside: it does not fit our row and a person decides; ignored: it is about nothing of ours.
  outcome text not null constraint gateway_events_outcome_check
    check (outcome in ('applied', 'set_aside', 'ignored')),
  reason text,
  status text not null default 'published',
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  created_by text not null default '',
  updated_by text not null default '',
  constraint gateway_events_event_id_key unique (connection_id, event_id)
);
create index gateway_events_payment_id_idx on gateway_events (tenant_id, environment_id, payment_id);

create table test_gateway_payments (
  id text primary key,
  tenant_id text not null references tenants (id),
  environment_id text not null references environments (id),
  connection_id text not null,
  -- The idempotency key of the request: a repeated request finds the first payment.
  token text not null,
  reference text not null,
  amount numeric(38, 18) not null,
  currency text not null,
  state text not null,
  error text,
  url text,
  created_at timestamptz(3) not null default now(),
  constraint test_gateway_payments_token_key unique (connection_id, token)
);
create table test_gateway_refunds (
  id text primary key,
  tenant_id text not null references tenants (id),
  environment_id text not null references environments (id),
  connection_id text not null,
  token text not null,
  gateway_payment_id text not null,
  amount numeric(38, 18) not null,
  state text not null,
  error text,
  created_at timestamptz(3) not null default now(),
  constraint test_gateway_refunds_token_key unique (connection_id, token)
);
