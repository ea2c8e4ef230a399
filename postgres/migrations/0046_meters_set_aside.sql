-- A version that can not be evaluated (its expression is refused by now, or evaluating it failed) is set
-- aside: it has ended, its usage is refused with the reason, and the stream goes on without it.
-- Locks meter_versions for the moment of the change; it has a row per version.
alter table meter_versions
  drop constraint meter_versions_backfill_state_check,
  add constraint meter_versions_backfill_state_check
    check (backfill_state in
      ('waiting', 'replaying', 'sealing', 'verifying', 'complete', 'mismatched', 'set_aside')),
  add column set_aside_at timestamptz,
  add column set_aside_reason text,
  add constraint meter_versions_set_aside_check
    check ((backfill_state = 'set_aside') = (set_aside_at is not null and set_aside_reason is not null));
