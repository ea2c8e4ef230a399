-- Single sign-on. A login that has begun is remembered until the identity provider answers it, once; an
-- assertion that was accepted is remembered until it expires, so that nobody shows it again. Both are
-- claimed in one transaction. Locks nothing: the tables are new.
create table saml_requests (
  id text primary key,
  tenant_id text not null references tenants (id),
  relay_state text not null default '',
  expires_at timestamptz(3) not null,
  created_at timestamptz(3) not null default now()
);
create index saml_requests_expires_at_idx on saml_requests (expires_at);

create table saml_assertions (
  tenant_id text not null references tenants (id),
  assertion_id text not null,
  expires_at timestamptz(3) not null,
  primary key (tenant_id, assertion_id)
);
create index saml_assertions_expires_at_idx on saml_assertions (expires_at);

-- Keys that sign sessions take turns: one that was followed by another is believed until its last tokens
-- have ended. The lock is short: the table has a handful of rows.
alter table signing_keys add column ends_at timestamptz(3);
