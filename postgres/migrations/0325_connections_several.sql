-- Several connections of one provider stand in an environment (two buckets for exports): every request about a
-- bucket names its connection. A payment names its gateway only, so the environment has one connection to each.
-- A short lock of a small table.
drop index connections_provider_type_key;
create unique index connections_gateway_key on connections (tenant_id, environment_id, provider_type)
 where status = 'published' and provider_type in ('stripe', 'test');
