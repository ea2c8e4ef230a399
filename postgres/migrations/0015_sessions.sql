-- Sessions of people. What a browser holds are a short token, signed and checked against the session row on
-- every request, and a refresh token, of which only the hash is kept and which is exchanged at every use:
-- the second use of an old one ends the session, because one of the two users is not the owner.
-- Locks nothing: all tables are new.
create table signing_keys (
  id text primary key,
  secret bytea not null,
  created_at timestamptz(3) not null default now()
);

create table sessions (
  id text primary key,
  tenant_id text not null references tenants (id),
  user_id text not null references users (id),
  refresh_hash bytea not null,
  expires_at timestamptz(3) not null,
  ended_at timestamptz(3),
  created_at timestamptz(3) not null default now()
);
create unique index sessions_refresh_hash_key on sessions (refresh_hash);
create index sessions_user_id_idx on sessions (user_id) where ended_at is null;

-- Refresh tokens that were exchanged, to know one that comes again.
create table spent_refresh_tokens (
  refresh_hash bytea primary key,
  session_id text not null references sessions (id),
  spent_at timestamptz(3) not null default now()
);

-- Logins that failed, to slow guessing down. Keyed by a hash: no address book of those who mistyped.
create table login_failures (
  subject bytea not null,
  failed_at timestamptz(3) not null default now()
);
create index login_failures_subject_idx on login_failures (subject, failed_at);
