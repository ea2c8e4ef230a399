-- The addon whose rows alone are on the invoice: it began in a billing period that was closed before it was attached.
alter table invoices add column addon_association_id text;
