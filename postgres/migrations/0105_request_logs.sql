-- Requests of the last seven days, so that a caller finds what became of one by its id. Never bodies, never
-- headers that open a door. Locks nothing: the table is new.
create table request_logs (
  id text primary key,
  tenant_id text not null,
  -- Empty for requests about the tenant as a whole.
  environment_id text not null,
  request_id text not null,
  method text not null,
  -- The declared path, with names of parameters, and the path as requested, without its query.
  route text not null,
  path text not null,
  status_code int not null,
  error_code text,
  duration_ms int not null,
  -- Null: no key was sent.
  idempotency text constraint request_logs_idempotency_check
    check (idempotency in ('first', 'replayed', 'refused')),
  actor_kind text not null,
  user_id text,
  key_id text,
  ip text not null,
  user_agent text,
  created_at timestamptz(3) not null
);
create index request_logs_created_at_idx on request_logs (tenant_id, environment_id, created_at desc, id desc);
create index request_logs_request_id_idx on request_logs (tenant_id, request_id);
-- The job that deletes old rows reads by time alone; rows arrive in the order of time.
create index request_logs_age_idx on request_logs using brin (created_at);
