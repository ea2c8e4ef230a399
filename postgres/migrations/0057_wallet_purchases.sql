-- Rows of a purchase are found by the invoice that sells them. Locks writes to wallet_transactions while it is built.
create index wallet_transactions_source_id_idx
    on wallet_transactions (tenant_id, environment_id, source_id) where source_id is not null;
