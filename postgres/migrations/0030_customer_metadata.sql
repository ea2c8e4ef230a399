-- Customers are searched by what their metadata holds (`@>`); a million of them are not read for that.
-- Locks: customers for the time it takes to build the index.
create index customers_metadata_idx on customers using gin (metadata jsonb_path_ops);
