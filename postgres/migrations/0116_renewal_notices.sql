-- The end of the period for which the tenant was notified that the subscription renews: once per period. The
-- index finds subscriptions to notify without reading those that were notified.
-- Locks subscriptions for a moment for the column, and while the index is built.
alter table subscriptions add column renewal_notified_for timestamptz(3);
create index subscriptions_renewal_idx on subscriptions (current_period_end)
 where subscription_status = 'active' and status = 'published'
   and (renewal_notified_for is null or renewal_notified_for <> current_period_end);
