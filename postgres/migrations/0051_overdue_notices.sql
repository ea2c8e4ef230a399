-- The due date for which the tenant was notified that the invoice is overdue: once per due date, and again
-- after the due date was moved. The index finds overdue invoices without reading the paid ones.
-- Locks invoices for a moment for the column, and while the index is built.
alter table invoices add column overdue_notified_for timestamptz(3);
create index invoices_overdue_idx on invoices (due_date)
 where invoice_status = 'FINALIZED' and amount_remaining > 0
   and (overdue_notified_for is null or overdue_notified_for <> due_date);
