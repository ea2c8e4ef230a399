-- The unique index of a subscription's periods leaves out the invoices of changes (0060). The search for the invoice of
-- a change read all invoices of the subscription, or the whole table: 2,000 pages for 20,000 invoices of one
-- subscription. Changes are few, so the index is small. Builds under a lock against writers: less than a second for a
-- million invoices.
create index invoices_of_changes_idx on invoices (subscription_id, period_start)
 where billing_reason = 'SUBSCRIPTION_UPDATE';
