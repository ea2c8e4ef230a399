-- For a day after a payment was voided its gateway is asked whether money arrived all the same. Building the index
-- blocks writes of payments while it reads the table once.
create index payments_given_up_idx on payments (voided_at) include (tenant_id, environment_id)
  where payment_status = 'VOIDED' and status = 'published' and connection_id is not null
    and (last_synced_at is null or last_synced_at - voided_at < interval '24 hours');
