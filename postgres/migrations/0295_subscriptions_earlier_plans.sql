-- The plans and anchors that a subscription had before its plan changes: earlier periods are billed by the grid and
-- the entitlements of their time (billing 14.2). Elements, in order of time:
-- {plan_id, billing_anchor, until, restarts}. A column with a constant default locks `subscriptions` for an instant.
alter table subscriptions add column earlier_plans jsonb not null default '[]';
