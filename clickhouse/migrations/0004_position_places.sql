-- The rows of a log partition beyond a position are asked for at every assignment of it. Almost all parts
-- lie below, and the index says so without reading them. Parts that exist get it when they are merged.
alter table events_raw_v1 add index if not exists position_minmax position type minmax granularity 1;
