-- The discounts that stand on an invoice, each with a snapshot of its coupon: written with the amounts that
-- they make, and replaced as a whole when a draft is computed again (billing-semantics 7.3). The index
-- finds the invoices that used a coupon that counts once. Takes an exclusive lock on invoices for a moment:
-- a constant default rewrites nothing.
alter table invoices add column coupon_applications jsonb not null default '[]';
create index invoices_discounted_idx on invoices (subscription_id)
 where coupon_applications <> '[]' and subscription_id is not null;
