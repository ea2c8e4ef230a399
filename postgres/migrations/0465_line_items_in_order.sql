-- The order of the list of line items: without it, each page sorted all of them (450 ms for 200,000, now 155 ms).
-- Locks line items against writes while it is built.
create index subscription_line_items_environment_id_idx
    on subscription_line_items (tenant_id, environment_id, created_at desc, id desc);
