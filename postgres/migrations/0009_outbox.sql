-- What has to be told to the outside, written in the transaction that made it true: a crash can
-- neither lose a notification nor send one for a change that was rolled back (money-semantics 17.1).
-- The payload is a snapshot of that moment, so a later change or deletion does not alter it.
-- `sequence` ascends per entity, because writers of one entity hold its row lock; a relay takes the
-- undelivered rows in its order. Locks nothing: the table is new.
create table outbox (
  sequence bigint generated always as identity primary key,
  id text not null default 'outbox_' || upper(replace(gen_random_uuid()::text, '-', '')),
  tenant_id text not null,
  environment_id text not null,
  event_type text not null,
  entity_type text not null,
  entity_id text not null,
  payload jsonb not null,
  occurred_at timestamptz not null default now(),
  delivered_at timestamptz
);
create unique index outbox_id_key on outbox (id);
create index outbox_undelivered_idx on outbox (sequence) where delivered_at is null;
create index outbox_entity_idx on outbox (tenant_id, environment_id, entity_type, entity_id, sequence);
