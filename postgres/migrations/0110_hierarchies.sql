-- Subscriptions under a parent (billing 16).
-- The first boundary from which a grouped subscription is billed on its parent's invoice.
alter table subscriptions add column merges_from timestamptz(3);
create index subscriptions_parent_subscription_id_idx
    on subscriptions (tenant_id, environment_id, parent_subscription_id) where parent_subscription_id is not null;

-- The grouped subscriptions whose rows are on the invoice.
alter table invoices add column grouped_subscription_ids text[] not null default '{}';
create index invoices_grouped_subscription_ids_idx
    on invoices using gin (grouped_subscription_ids) where grouped_subscription_ids <> '{}';
