-- A customer's tenant and environment are not looked up again for every row. The scope comes from the caller's
-- credential, which refers to both, row security holds every write to it, and neither is ever deleted. Each
-- look-up locks the same two rows for all creates of a tenant at once: measured, a twentieth of what Postgres
-- spends on a create that is alone, and more the more there are at the same time.
-- Locks: customers, tenants and environments for a moment.
alter table customers
  drop constraint customers_tenant_id_fkey,
  drop constraint customers_environment_id_fkey;
