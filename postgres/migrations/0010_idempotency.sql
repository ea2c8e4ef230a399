-- What was answered to requests that carried an Idempotency-Key, so that a repeat gets the same answer
-- and does nothing. The row is written by the transaction that did the work. Kept seven days, then a job
-- deletes by created_at. Locks nothing: the table is new.
create table idempotency_keys (
  tenant_id text not null,
  environment_id text not null,
  key text not null,
  fingerprint text not null,
  answer_status int not null,
  answer_body jsonb,
  created_at timestamptz not null default now(),
  primary key (tenant_id, environment_id, key)
);
create index idempotency_keys_created_at_idx on idempotency_keys (created_at);
