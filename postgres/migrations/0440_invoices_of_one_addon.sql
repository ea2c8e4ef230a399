-- The addon whose rows alone are on the invoice: the period of the invoice was closed when the addon was attached.
alter table invoices add column addon_association_id text;
