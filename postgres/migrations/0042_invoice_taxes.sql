-- Taxes that were accepted and stored are charged: an invoice keeps each of them with what it came to.
-- A billing run looks for the taxes of a page of subscriptions and customers.
-- Locks: invoices for a moment, no row is written; tax_associations while the index is built.

alter table invoices add column taxes jsonb not null default '[]';

create index tax_associations_owner_idx
    on tax_associations (tenant_id, environment_id, entity_type, entity_id)
 where status = 'published';
