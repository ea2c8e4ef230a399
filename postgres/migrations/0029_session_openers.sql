-- How a session was opened: where a tenant demands single sign-on, those that a password opened end.
-- Adds a column with a constant default, which rewrites nothing and holds its lock for a moment.
alter table sessions
  add column opened_by text not null default 'password'
    check (opened_by in ('password', 'identity_provider'));
