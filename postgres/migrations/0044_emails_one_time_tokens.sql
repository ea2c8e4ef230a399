-- E-mails that the product itself sends, sign-ups that wait for the proof of their address, and tokens that
-- are good for one use. Locks nothing: all tables are new.

-- Written in the transaction that is the e-mail's reason, sent by a job. The text is made when it is sent, so
-- that no link waits here. No tenant: an address is queued whether or not anybody has it.
create table emails_outbox (
  id text primary key,
  kind text not null,
  recipient text not null,
  payload jsonb not null default '{}',
  attempts int not null default 0,
  due_at timestamptz(3) not null,
  sent_at timestamptz(3),
  given_up_at timestamptz(3),
  last_error text,
  created_at timestamptz(3) not null
);
create index emails_outbox_due_at_idx on emails_outbox (due_at, id)
 where sent_at is null and given_up_at is null;
create index emails_outbox_recipient_idx on emails_outbox (recipient, sent_at);

create table sign_ups (
  id text primary key,
  email text not null,
  password_hash text,
  tenant_name text,
  expires_at timestamptz(3) not null,
  created_at timestamptz(3) not null
);
create index sign_ups_expires_at_idx on sign_ups (expires_at);

-- 256 random bits, of which only the SHA-256 is kept; the row is deleted by the first use.
create table one_time_tokens (
  token_hash bytea primary key,
  purpose text not null
    constraint one_time_tokens_purpose_check check (purpose in ('sign_up', 'password')),
  -- Who handed it out, for the audit log: email, operator or first_start.
  origin text not null,
  sign_up_id text references sign_ups (id) on delete cascade,
  tenant_id text references tenants (id),
  user_id text references users (id),
  expires_at timestamptz(3) not null,
  created_at timestamptz(3) not null,
  constraint one_time_tokens_subject_check check ((sign_up_id is null) <> (user_id is null))
);
create index one_time_tokens_user_id_idx on one_time_tokens (user_id);
create index one_time_tokens_expires_at_idx on one_time_tokens (expires_at);

-- Networks from which an account was opened, under a hash of both: failures of others do not hold them up.
create table known_networks (
  subject bytea primary key,
  seen_at timestamptz(3) not null
);
create index known_networks_seen_at_idx on known_networks (seen_at);
