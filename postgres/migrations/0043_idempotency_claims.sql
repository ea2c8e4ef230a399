-- A command that owns its transactions claims its idempotency key first, in a transaction of its own, notes in
-- the transaction of its effect what came of it, and keeps the answer last. A repeat can tell at every moment
-- what was done. A row without an answer is a claim; `holder` changes with every attempt and fences the one before.
-- Locks: idempotency_keys for a moment, no row is written.

alter table idempotency_keys
  alter column answer_status drop not null,
  add column claim_id text,
  add column holder text,
  add column alive_at timestamptz(3),
  -- What the command came to, from the transaction that did it; null before.
  add column result jsonb,
  add constraint idempotency_keys_claim_check
    check (answer_status is not null or (claim_id is not null and holder is not null and alive_at is not null));
