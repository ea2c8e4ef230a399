-- The usage store. Every row has a permanent identity (log partition and position), so that writing
-- it twice is harmless; every bucket is a pure function of rows and may be overwritten at any time.
-- Positions are packed, epoch << 56 | offset << 16 | index, and mean something only together with
-- their log partition. Block deduplication is off on every table: a replay after a crash between a
-- row and its mark must run the views again. All statements may be run again; none locks a table.

-- Every accepted copy of an event, once. Canonical copies count, the others are shown and inert.
create table if not exists events_raw_v1 (
  tenant_id              LowCardinality(String),
  environment_id         LowCardinality(String),
  event_name             LowCardinality(String),
  external_customer_id   String,
  customer_id            String,
  timestamp              DateTime64(3, 'UTC'),
  event_id               String,
  source                 LowCardinality(String),
  properties             String codec(ZSTD(1)),
  ingested_at            DateTime64(3, 'UTC'),
  partition              UInt16,
  position               UInt64,
  is_canonical           Bool,
  index event_id_bloom event_id type bloom_filter(0.001) granularity 1
)
engine = ReplacingMergeTree
partition by toYYYYMM(timestamp)
order by (tenant_id, environment_id, event_name, external_customer_id, timestamp, position, partition)
settings index_granularity = 8192, non_replicated_deduplication_window = 0;

-- Slot (128-bit hash of tenant, environment and event id) to the smallest position seen: the exact
-- truth about duplicates, without a horizon. A slot's log partition is its first 32 bits modulo the
-- number of partitions, so grouping by the lowest two of those bits keeps an insert of one log
-- partition in one group whenever that number is a multiple of four, and in four groups at most.
-- A new epoch with another number of partitions does not move a slot to another group.
create table if not exists event_index_v1 (
  slot_group  UInt8 default bitAnd(reinterpretAsUInt8(substring(UUIDToNum(slot), 4, 1)), 3),
  slot        UUID,
  position    SimpleAggregateFunction(min, UInt64)
)
engine = AggregatingMergeTree
partition by slot_group
order by slot
settings index_granularity = 512, non_replicated_deduplication_window = 0;

-- What one meter version counts of one event. Value is 1 for COUNT and for COUNT_UNIQUE.
create table if not exists meter_usage_v1 (
  tenant_id              LowCardinality(String),
  environment_id         LowCardinality(String),
  external_customer_id   String,
  meter_version_id       LowCardinality(String),
  timestamp              DateTime64(3, 'UTC'),
  partition              UInt16,
  position               UInt64,
  value                  Decimal(38, 18),
  unique_hash            UUID,
  dimensions             Array(String),
  source                 LowCardinality(String),
  stored_at              DateTime64(3, 'UTC') default now64(3, 'UTC')
)
engine = ReplacingMergeTree
partition by toYYYYMM(timestamp)
order by (tenant_id, environment_id, external_customer_id, meter_version_id, timestamp, position, partition)
settings index_granularity = 8192, non_replicated_deduplication_window = 0;

-- A correction: the event at the target position does not count for readers whose watermarks have
-- passed the correction's own position. One row for each meter version that had counted the event,
-- or one with an empty meter version when none had.
create table if not exists usage_void_v1 (
  tenant_id              LowCardinality(String),
  environment_id         LowCardinality(String),
  target_partition       UInt16,
  target_position        UInt64,
  partition              UInt16,
  position               UInt64,
  meter_version_id       LowCardinality(String),
  external_customer_id   String,
  timestamp              DateTime64(3, 'UTC'),
  event_id               String
)
engine = ReplacingMergeTree
order by (tenant_id, environment_id, target_partition, target_position, partition, position, meter_version_id)
settings index_granularity = 8192, non_replicated_deduplication_window = 0;

-- Which buckets were touched, with the greatest position per log partition. A mark twice is a mark.
create table if not exists usage_touched_v1 (
  tenant_id              LowCardinality(String),
  environment_id         LowCardinality(String),
  external_customer_id   String,
  meter_version_id       LowCardinality(String),
  bucket_size            Enum8('15MIN' = 1, 'DAY' = 2),
  bucket_start           DateTime('UTC'),
  partition              UInt16,
  position               SimpleAggregateFunction(max, UInt64),
  marked_at              SimpleAggregateFunction(max, DateTime64(3, 'UTC')),
  index marked_at_minmax marked_at type minmax granularity 1
)
engine = AggregatingMergeTree
partition by toYYYYMM(bucket_start)
order by (tenant_id, environment_id, bucket_size, external_customer_id, meter_version_id, bucket_start, partition)
settings index_granularity = 1024, non_replicated_deduplication_window = 0;

create materialized view if not exists usage_touched_15m_mv_v1 to usage_touched_v1 as
select tenant_id, environment_id, external_customer_id, meter_version_id,
       '15MIN' as bucket_size,
       toDateTime(intDiv(toUnixTimestamp(timestamp), 900) * 900, 'UTC') as bucket_start,
       partition,
       max(position) as position,
       now64(3, 'UTC') as marked_at
  from meter_usage_v1
 group by tenant_id, environment_id, external_customer_id, meter_version_id, bucket_start, partition;

create materialized view if not exists usage_touched_day_mv_v1 to usage_touched_v1 as
select tenant_id, environment_id, external_customer_id, meter_version_id,
       'DAY' as bucket_size,
       toDateTime(intDiv(toUnixTimestamp(timestamp), 86400) * 86400, 'UTC') as bucket_start,
       partition,
       max(position) as position,
       now64(3, 'UTC') as marked_at
  from meter_usage_v1
 group by tenant_id, environment_id, external_customer_id, meter_version_id, bucket_start, partition;

-- A void marks the buckets it takes usage out of, with its own position.
create materialized view if not exists usage_touched_15m_void_mv_v1 to usage_touched_v1 as
select tenant_id, environment_id, external_customer_id, meter_version_id,
       '15MIN' as bucket_size,
       toDateTime(intDiv(toUnixTimestamp(timestamp), 900) * 900, 'UTC') as bucket_start,
       partition,
       max(position) as position,
       now64(3, 'UTC') as marked_at
  from usage_void_v1
 where meter_version_id != ''
 group by tenant_id, environment_id, external_customer_id, meter_version_id, bucket_start, partition;

create materialized view if not exists usage_touched_day_void_mv_v1 to usage_touched_v1 as
select tenant_id, environment_id, external_customer_id, meter_version_id,
       'DAY' as bucket_size,
       toDateTime(intDiv(toUnixTimestamp(timestamp), 86400) * 86400, 'UTC') as bucket_start,
       partition,
       max(position) as position,
       now64(3, 'UTC') as marked_at
  from usage_void_v1
 where meter_version_id != ''
 group by tenant_id, environment_id, external_customer_id, meter_version_id, bucket_start, partition;

-- Buckets, written by the sealer alone. Of one bucket only the rows with its greatest seal count, so
-- that a dimension which vanished in a recompute is gone. sum_value_time is the sum of value times
-- milliseconds since 1970; 256 bits because sum(Decimal(38)) wraps without an error.
create table if not exists usage_per_15m_v1 (
  tenant_id              LowCardinality(String),
  environment_id         LowCardinality(String),
  external_customer_id   String,
  meter_version_id       LowCardinality(String),
  bucket_start           DateTime('UTC'),
  dimensions             Array(String),
  source                 LowCardinality(String),
  seal                   UInt64,
  event_count            UInt64,
  sum                    Decimal(76, 18),
  sum_value_time         Decimal(76, 18),
  min                    Decimal(38, 18),
  max                    Decimal(38, 18),
  latest                 Decimal(38, 18),
  latest_at              DateTime64(3, 'UTC'),
  latest_position        UInt64,
  latest_partition       UInt16
)
engine = ReplacingMergeTree(seal)
partition by toYYYYMM(bucket_start)
order by (tenant_id, environment_id, external_customer_id, meter_version_id, bucket_start, dimensions, source)
settings index_granularity = 1024, non_replicated_deduplication_window = 0;

-- As above, and how many distinct unique hashes the row stands for: they lie one by one in the next
-- table, and a reader checks that it found them all.
create table if not exists usage_per_day_v1 (
  tenant_id              LowCardinality(String),
  environment_id         LowCardinality(String),
  external_customer_id   String,
  meter_version_id       LowCardinality(String),
  bucket_start           DateTime('UTC'),
  dimensions             Array(String),
  source                 LowCardinality(String),
  seal                   UInt64,
  event_count            UInt64,
  sum                    Decimal(76, 18),
  sum_value_time         Decimal(76, 18),
  min                    Decimal(38, 18),
  max                    Decimal(38, 18),
  latest                 Decimal(38, 18),
  latest_at              DateTime64(3, 'UTC'),
  latest_position        UInt64,
  latest_partition       UInt16,
  unique_count           UInt64
)
engine = ReplacingMergeTree(seal)
partition by toYYYYMM(bucket_start)
order by (tenant_id, environment_id, external_customer_id, meter_version_id, bucket_start, dimensions, source)
settings index_granularity = 1024, non_replicated_deduplication_window = 0;

create table if not exists usage_uniques_per_day_v1 (
  tenant_id              LowCardinality(String),
  environment_id         LowCardinality(String),
  external_customer_id   String,
  meter_version_id       LowCardinality(String),
  bucket_start           DateTime('UTC'),
  dimensions             Array(String),
  source                 LowCardinality(String),
  unique_hash            UUID,
  seal                   UInt64
)
engine = ReplacingMergeTree(seal)
partition by toYYYYMM(bucket_start)
order by (tenant_id, environment_id, external_customer_id, meter_version_id, bucket_start, dimensions, source, unique_hash)
settings index_granularity = 8192, non_replicated_deduplication_window = 0;

-- What could not be decoded (no meter version, the record's bytes in `raw`) or not be metered by one
-- meter version, and why. A row says what the debugger shows; its neighbours counted.
create table if not exists events_rejected_v1 (
  tenant_id              LowCardinality(String),
  environment_id         LowCardinality(String),
  event_id               String,
  event_name             LowCardinality(String),
  external_customer_id   String,
  meter_version_id       LowCardinality(String),
  partition              UInt16,
  position               UInt64,
  ingested_at            DateTime64(3, 'UTC'),
  reason                 LowCardinality(String),
  message                String,
  raw                    String codec(ZSTD(1))
)
engine = ReplacingMergeTree
partition by toYYYYMM(ingested_at)
order by (tenant_id, environment_id, event_id, position, partition, meter_version_id)
settings index_granularity = 8192, non_replicated_deduplication_window = 0;
