-- Where the copies of an event lie: from its id to the rest of the key of `events_raw_v1`, so that a
-- look-up by id reads a granule or two however many events there are. A filter on the ids themselves
-- has to be read whole, 1.8 bytes for each event. The hash is of 32 bits because those that fall
-- together cost a look at another place and no more: the id itself is compared there.

create table if not exists event_places_v1 (
  event_hash             UInt32 codec(Delta(4), ZSTD(1)),
  timestamp              DateTime64(3, 'UTC') codec(T64, ZSTD(1)),
  external_customer_id   String codec(ZSTD(1)),
  event_name             LowCardinality(String)
)
engine = ReplacingMergeTree
order by (event_hash, timestamp, external_customer_id, event_name)
settings index_granularity = 1024, non_replicated_deduplication_window = 0;

create materialized view if not exists event_places_mv_v1 to event_places_v1 as
select toUInt32(sipHash64(tenant_id, environment_id, event_id)) as event_hash,
       timestamp, external_customer_id, event_name
  from events_raw_v1;

-- Those that were there before the view. What is met twice collapses.
insert into event_places_v1 (event_hash, timestamp, external_customer_id, event_name)
select toUInt32(sipHash64(tenant_id, environment_id, event_id)), timestamp, external_customer_id, event_name
  from events_raw_v1;

alter table events_raw_v1 drop index if exists event_id_bloom;
