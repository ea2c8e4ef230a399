-- A meter version goes live when its buckets have been counted again from the raw events and agree
-- (metering 6): two states more, what the recount found, and from when an edit was asked to apply.
-- Locks meter_versions for the moment of the change; it has a row per version.
alter table meter_versions
  drop constraint meter_versions_backfill_state_check,
  add constraint meter_versions_backfill_state_check
    check (backfill_state in ('waiting', 'replaying', 'sealing', 'verifying', 'complete', 'mismatched')),
  -- Null: billing periods that begin after the version was made. Else those that begin at or after it.
  add column effective_from timestamptz(3),
  add column backfill_started_at timestamptz,
  -- Of the replayed events, those whose properties have been erased: nobody can meter them any more.
  add column backfill_erased bigint not null default 0,
  -- The seal under which all buckets were computed from scratch; the recount reads below its vector.
  add column verified_seal bigint,
  add column verified_at timestamptz,
  add column verified_events bigint,
  add column verified_buckets bigint,
  -- Customers whose buckets can not be counted again, because properties of theirs have been erased.
  add column verified_without_customers bigint,
  add column mismatched_buckets bigint,
  -- The first of them, as text for a person.
  add column mismatches jsonb,
  add column verifications integer not null default 0;

-- Versions that were complete before there was a verification stay complete; verified_at says so.
