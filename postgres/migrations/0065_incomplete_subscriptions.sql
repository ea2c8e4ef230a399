-- The job that ends subscriptions whose first invoice was never paid reads the incomplete ones alone: they are
-- few among many. Locks writes of the table while the index is built.
create index subscriptions_incomplete_idx on subscriptions (tenant_id, environment_id, id)
 where subscription_status = 'incomplete';
