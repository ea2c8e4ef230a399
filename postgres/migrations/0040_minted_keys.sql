-- A key that is deleted ends the keys that it made, so each remembers its maker; null: made by a person
-- who was logged in, or before this. A publishable key may be held to some events and to one customer.
-- Adds columns without defaults: no rewrite. The index finds the keys that a key made.
alter table api_keys
  add column minted_by text references api_keys (id),
  add column allowed_event_names text[],
  add column external_customer_id text;
create index api_keys_minted_by_idx on api_keys (minted_by) where minted_by is not null;
