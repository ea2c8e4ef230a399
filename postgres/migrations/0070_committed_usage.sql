-- Usage that an invoice counts against commitments of several billing periods (billing 6.4): a list of
-- {subscription_id, commitment, period_start, base_usage}. It is replaced with the invoice, and a void invoice
-- counts nothing. Adds a column with a constant default; the table is not rewritten.
alter table invoices add column committed_usage jsonb not null default '[]';
