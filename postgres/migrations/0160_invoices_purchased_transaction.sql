-- An invoice that sells credits names the purchase in a column. Before, its metadata named it, which clients may
-- replace: credits then paid for credits. Locks invoices while the existing ones are marked.
alter table invoices add column purchased_transaction_id text;

update invoices i
   set purchased_transaction_id = t.id
  from wallet_transactions t
 where t.tenant_id = i.tenant_id and t.environment_id = i.environment_id
   and t.source_type = 'INVOICE' and t.source_id = i.id
   and t.type = 'credit' and t.parent_transaction_id is null;
