-- Corrections of events and erasures of customers, each with who asked, why and when (metering 6,
-- reliability S31). Both are worked off after the answer, so each row says how far it has come.
-- Locks nothing: both tables are new.

-- An event that was taken back. The row is the audit; the void in the event log is what takes effect.
-- It is appended after the commit, again if need be: a void twice is a void.
create table corrections (
  id text primary key,
  tenant_id text not null references tenants (id),
  environment_id text not null references environments (id),
  event_id text not null,
  type text not null default 'void' constraint corrections_type_check check (type in ('void')),
  reason text not null,
  request_id text not null,
  -- When the void stood in the log. Null: it is still to be appended.
  logged_at timestamptz(3),
  status text not null default 'published',
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  created_by text not null default '',
  updated_by text not null default '',
  -- An event is taken back once: there is nothing that a second correction could add.
  constraint corrections_event_id_key unique (tenant_id, environment_id, event_id)
);
create index corrections_environment_id_idx on corrections (tenant_id, environment_id, created_at desc, id desc);
create index corrections_unlogged_idx on corrections (created_at, id) where logged_at is null;

-- A customer whose personal data was erased. The customer's row is overwritten with the request; the
-- properties of its events follow, and once more when the log can bring none of them back.
create table erasures (
  id text primary key,
  tenant_id text not null references tenants (id),
  environment_id text not null references environments (id),
  customer_id text not null references customers (id),
  external_customer_id text not null,
  reason text not null,
  request_id text not null,
  -- Events accepted up to this moment lose their properties.
  events_until timestamptz(3) not null,
  state text not null default 'requested'
    constraint erasures_state_check check (state in ('requested', 'erased', 'complete')),
  erased_at timestamptz(3),
  erased_events bigint,
  completed_at timestamptz(3),
  status text not null default 'published',
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  created_by text not null default '',
  updated_by text not null default ''
);
create index erasures_environment_id_idx on erasures (tenant_id, environment_id, created_at desc, id desc);
create index erasures_customer_id_idx on erasures (customer_id);
create index erasures_open_idx on erasures (created_at, id) where state <> 'complete';
