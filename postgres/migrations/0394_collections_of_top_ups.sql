-- The invoice of an automatic top-up is charged too, and it belongs to no subscription.
alter table invoice_collections alter column subscription_id drop not null;
