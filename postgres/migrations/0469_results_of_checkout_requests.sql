-- A session keeps what its request returned, so that the same request with its key is answered again while the session
-- is active: `{"done": …}`. Null: a session without a key, or from before.
alter table checkout_sessions add column request_result jsonb;
