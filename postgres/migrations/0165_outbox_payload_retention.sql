-- Payloads of notifications are removed 90 days after the event, when the notification is delivered; without a
-- limit they were the largest table of an old installation. The row stays: the timeline of a customer reads which
-- notification was sent when, and never reads the payload.
-- Locks: outbox for a moment to drop the constraint; building the index blocks writes of notifications while it
-- reads the table once.
alter table outbox alter column payload drop not null;
alter table outbox add constraint outbox_undelivered_payload_check
  check (payload is not null or delivered_at is not null) not valid;
create index outbox_payload_idx on outbox (occurred_at) where payload is not null;
