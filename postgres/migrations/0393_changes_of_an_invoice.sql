-- The changes of an invoice that is replaced move to its replacement. This index finds them. Locks the table against
-- writes while it is built.
create index subscription_changes_invoice_id_idx on subscription_changes (invoice_id) where invoice_id is not null;
