-- How many bytes of files an environment has sent is asked before each further one.
-- Locks uploads against writes while the index is built.
create index uploads_environment_id_idx on uploads (tenant_id, environment_id) include (size_bytes);
