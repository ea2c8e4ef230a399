-- A subscription that cannot be billed says why, where its tenant reads it, and is not tried again with every
-- run: what is due stays due, and the run goes on to the others.
-- Locks: subscriptions for a moment; no row is written.

alter table subscriptions
  add column billing_refusal jsonb,
  add column billing_retry_at timestamptz(3);
