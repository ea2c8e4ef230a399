-- The tax rates, or the exemption, of an invoice as they stood when its period was closed: a later computation uses
-- them. Null on invoices whose period still runs. Existing drafts are pinned by their next computation. Locks
-- invoices for a moment.
alter table invoices add column pinned_taxes jsonb;
