#!/bin/sh
# Runs once, on an empty volume. The superuser makes the logins of the product and marks the functions that searches by
# index need. The product does not use the superuser (docs/operations.md, Roles of the database).
set -eu
psql --set ON_ERROR_STOP=1 --no-psqlrc --username "$POSTGRES_USER" --dbname "$POSTGRES_DB" <<'SQL'
\getenv owner POSTGRES_OWNER_PASSWORD
\getenv work POSTGRES_WORK_PASSWORD
\getenv api POSTGRES_API_PASSWORD
create role meterline_system nologin;
create role meterline_api login password :'api';
create role meterline_owner login password :'owner';
create role meterline_work login password :'work';
grant meterline_api, meterline_system to meterline_owner;
grant meterline_system to meterline_work;
alter database meterline owner to meterline_owner;
alter schema public owner to meterline_owner;
revoke temporary, create on database meterline from public;
alter function lower(text) leakproof;
alter function texticlike(text, text) leakproof;
alter function jsonb_contains(jsonb, jsonb) leakproof;
alter function arrayoverlap(anyarray, anyarray) leakproof;
SQL
