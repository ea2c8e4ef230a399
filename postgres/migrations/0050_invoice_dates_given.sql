-- A due date and an issue date that the caller sends stay as sent: neither a later computation nor the
-- finalization replaces them (billing 17.5). Locks invoices for a moment: constant defaults rewrite nothing.
alter table invoices
  add column due_date_given boolean not null default false,
  add column issue_date_given boolean not null default false;
