-- A session keeps a hash of the request that opened it, so that the same key with another request is refused instead of
-- answered with a session that sells something else. Empty: a session from before, or opened by the record's own route.
alter table checkout_sessions add column request_fingerprint text not null default '';
