-- Whom a key invites is confined to the key's environment: the ids of the environments that a person may
-- name. Null: all of the tenant, as for everybody so far. Adds a column without a default: no rewrite.
alter table users add column environment_ids text[];
