-- When the person of a session last proved who they are: keys, roles, single sign-on and refunds ask again
-- after a time. Sessions that were open before count from their start.
alter table sessions add column authenticated_at timestamptz(3) not null default now();
update sessions set authenticated_at = created_at;
