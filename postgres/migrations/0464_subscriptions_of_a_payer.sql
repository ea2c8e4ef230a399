-- The subscriptions of a payer. Behind row security no index is used for a condition with `coalesce`, because Postgres
-- does not count it as leakproof: with 100,000 subscriptions each balance of a wallet read all of them (110 ms).
-- Locks subscriptions against writes while the index is built.
create index subscriptions_invoicing_customer_id_idx
    on subscriptions (tenant_id, environment_id, invoicing_customer_id)
 where invoicing_customer_id is not null;
drop index subscriptions_payer_idx;
