-- When a finalized invoice that is not paid becomes overdue, unless that was reported. The planner takes the conditions
-- one by one and expects that nearly all invoices meet them, so a page of the job and each instant of a test clock read
-- all invoices; the statistics of the whole expression tell that few do. Locks invoices while the index is built.
drop index invoices_overdue_idx;
create index invoices_overdue_notices_idx on invoices ((
  case when invoice_status = 'FINALIZED' and amount_remaining > 0 and status = 'published'
            and overdue_notified_for is distinct from due_date then due_date end
)) where (
  case when invoice_status = 'FINALIZED' and amount_remaining > 0 and status = 'published'
            and overdue_notified_for is distinct from due_date then due_date end
) is not null;
create statistics invoices_overdue_notices on (
  case when invoice_status = 'FINALIZED' and amount_remaining > 0 and status = 'published'
            and overdue_notified_for is distinct from due_date then due_date end
) from invoices;
