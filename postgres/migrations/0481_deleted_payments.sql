-- For a day after a payment was deleted its gateway is asked whether money arrived all the same, as for a voided one.
-- Building the index blocks writes of payments while it reads the table once.
alter table payments add column archived_at timestamptz(3);
create index payments_deleted_idx on payments (archived_at) include (tenant_id, environment_id)
  where status = 'archived' and payment_status in ('INITIATED', 'PENDING') and archived_at is not null
    and connection_id is not null
    and (last_synced_at is null or last_synced_at - archived_at < interval '24 hours');
