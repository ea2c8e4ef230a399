-- Lists show the number of their records, and home the sums of a month and of what is open. Both read all rows of the
-- table. CPU of one process with 100,000 subscriptions and 200,000 invoices, before and after: the count of
-- invoices 135 and 20 ms, of subscriptions 63 and 12 ms, of wallets 36 and 11 ms. An index of equal keys takes 8 bytes
-- for each row (1.5 MB of 200,000), and `status` seldom changes. The figures of home read the invoices of the month and
-- those that are open, instead of all. Each index locks its table against writes while it is built: 1.2 s
-- for 200,000 invoices.
create index subscriptions_listed_idx on subscriptions (tenant_id, environment_id) where status = 'published';
create index invoices_listed_idx on invoices (tenant_id, environment_id) where status = 'published';
create index wallets_listed_idx on wallets (tenant_id, environment_id) where status = 'published';
create index invoices_open_idx on invoices (tenant_id, environment_id)
 where status = 'published' and invoice_status = 'FINALIZED' and amount_remaining > 0;
