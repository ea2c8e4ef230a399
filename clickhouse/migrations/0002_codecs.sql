-- Smaller columns: times and positions ascend within a key and are stored as differences, numbers
-- without their unused bits, everything with ZSTD. Only what is written or merged from here on is
-- stored so; old parts are read as they are. Changes metadata alone, locks nothing, may be run again.

alter table events_raw_v1
  modify column external_customer_id codec(ZSTD(1)),
  modify column customer_id codec(ZSTD(1)),
  modify column timestamp codec(Delta(8), ZSTD(1)),
  modify column event_id codec(ZSTD(3)),
  modify column properties codec(ZSTD(3)),
  modify column ingested_at codec(Delta(8), ZSTD(1)),
  modify column partition codec(T64, ZSTD(1)),
  modify column position codec(Delta(8), ZSTD(1)),
  modify column is_canonical codec(ZSTD(1));

-- A slot is a hash: nothing makes it smaller.
alter table event_index_v1
  modify column slot codec(NONE),
  modify column position codec(T64, ZSTD(1));

alter table meter_usage_v1
  modify column external_customer_id codec(ZSTD(1)),
  modify column timestamp codec(Delta(8), ZSTD(1)),
  modify column partition codec(T64, ZSTD(1)),
  modify column position codec(Delta(8), ZSTD(1)),
  modify column value codec(ZSTD(1)),
  modify column unique_hash codec(ZSTD(1)),
  modify column dimensions codec(ZSTD(1)),
  modify column stored_at codec(Delta(8), ZSTD(1));

alter table usage_touched_v1
  modify column external_customer_id codec(ZSTD(1)),
  modify column bucket_start codec(Delta(4), ZSTD(1)),
  modify column partition codec(T64, ZSTD(1)),
  modify column position codec(Delta(8), ZSTD(1)),
  modify column marked_at codec(Delta(8), ZSTD(1));

alter table usage_per_15m_v1
  modify column external_customer_id codec(ZSTD(1)),
  modify column bucket_start codec(Delta(4), ZSTD(1)),
  modify column dimensions codec(ZSTD(1)),
  modify column seal codec(Delta(8), ZSTD(1)),
  modify column event_count codec(T64, ZSTD(1)),
  modify column sum codec(ZSTD(1)),
  modify column sum_value_time codec(ZSTD(1)),
  modify column min codec(ZSTD(1)),
  modify column max codec(ZSTD(1)),
  modify column latest codec(ZSTD(1)),
  modify column latest_at codec(Delta(8), ZSTD(1)),
  modify column latest_position codec(Delta(8), ZSTD(1)),
  modify column latest_partition codec(T64, ZSTD(1));

alter table usage_per_day_v1
  modify column external_customer_id codec(ZSTD(1)),
  modify column bucket_start codec(Delta(4), ZSTD(1)),
  modify column dimensions codec(ZSTD(1)),
  modify column seal codec(Delta(8), ZSTD(1)),
  modify column event_count codec(T64, ZSTD(1)),
  modify column sum codec(ZSTD(1)),
  modify column sum_value_time codec(ZSTD(1)),
  modify column min codec(ZSTD(1)),
  modify column max codec(ZSTD(1)),
  modify column latest codec(ZSTD(1)),
  modify column latest_at codec(Delta(8), ZSTD(1)),
  modify column latest_position codec(Delta(8), ZSTD(1)),
  modify column latest_partition codec(T64, ZSTD(1)),
  modify column unique_count codec(T64, ZSTD(1));

alter table usage_uniques_per_day_v1
  modify column external_customer_id codec(ZSTD(1)),
  modify column bucket_start codec(Delta(4), ZSTD(1)),
  modify column dimensions codec(ZSTD(1)),
  modify column unique_hash codec(NONE),
  modify column seal codec(Delta(8), ZSTD(1));
