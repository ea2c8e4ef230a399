-- What invoices and their rows are in a custom currency (billing 2.6); null for rows in the currency of the invoice.
alter table invoices add column custom_currency jsonb;
alter table invoice_line_items add column custom_currency jsonb;
