-- What the stream knows (metering 4 and 5): meter versions and the counter of their changes, fenced
-- progress per partition, from where each version is evaluated live, and the sealer's seals.
-- Locks nothing: all tables are new.

-- One row. Every change of the catalog takes the next number while it holds this row's lock, so that
-- numbers become visible in order and a reader at number N has seen every change up to N.
create table meter_catalog (
  singleton boolean primary key default true constraint meter_catalog_one_row_check check (singleton),
  version bigint not null default 0
);
insert into meter_catalog default values;

-- What a meter counts, immutable. `backfill_state` moves waiting > replaying > sealing > complete;
-- prices move to a version when it is complete (metering 6).
create table meter_versions (
  id text primary key,
  tenant_id text not null references tenants (id),
  environment_id text not null references environments (id),
  meter_id text not null,
  version integer not null,
  spec jsonb not null,
  dimensions text[] not null,
  -- Catalog numbers at which the version appeared and, once it has ended, went.
  created_catalog_version bigint not null,
  ended_catalog_version bigint,
  backfill_state text not null default 'waiting'
    constraint meter_versions_backfill_state_check
    check (backfill_state in ('waiting', 'replaying', 'sealing', 'complete')),
  -- Canonical raw events below live_from: how many there are (null until counted), how many of them
  -- have been replayed, and how many of those the version can not meter.
  backfill_total bigint,
  backfill_events bigint not null default 0,
  -- The last event replayed (customer, timestamp, position, partition): the next one begins behind it.
  backfill_cursor jsonb,
  backfill_rejected bigint not null default 0,
  backfill_completed_at timestamptz,
  status text not null default 'published',
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  created_by text not null default '',
  updated_by text not null default '',
  constraint meter_versions_meter_id_version_key unique (meter_id, version)
);
create index meter_versions_scope_idx on meter_versions (tenant_id, environment_id, meter_id);
create index meter_versions_backfill_idx on meter_versions (created_catalog_version)
 where backfill_state <> 'complete';

-- Everything below (epoch, next_offset) of a partition has been processed: its watermark. Only the
-- owner of the generation may move it. Small and updated several times a second, so rows leave room
-- for updates in place.
create table stream_progress (
  epoch integer not null,
  partition integer not null,
  generation bigint not null,
  next_offset bigint not null,
  -- The newest catalog this partition was evaluated with: no later owner may use an older one.
  catalog_version bigint not null,
  updated_at timestamptz not null default now(),
  primary key (epoch, partition)
) with (fillfactor = 50);

-- Where progress stood, once a minute for two days: what was passed 24 h ago may leave the log, and
-- is replayed from there after an unclean stop of the machine.
create table stream_progress_history (
  epoch integer not null,
  partition integer not null,
  minute timestamptz not null,
  next_offset bigint not null,
  primary key (epoch, partition, minute)
);

-- Records below `until_offset` that must be read again from `next_offset` without moving the
-- watermark, because the usage store may have lost rows. While a row stands here, usage is unavailable.
create table stream_replays (
  epoch integer not null,
  partition integer not null,
  next_offset bigint not null,
  until_offset bigint not null,
  requested_at timestamptz not null default now(),
  primary key (epoch, partition)
);

-- In which part of a partition a meter version is evaluated live: offsets [live_from, live_until).
-- Below live_from the backfill evaluates it; rows at or beyond live_until do not count.
create table meter_live (
  meter_version_id text not null references meter_versions (id),
  epoch integer not null,
  partition integer not null,
  live_from bigint not null,
  live_until bigint,
  primary key (meter_version_id, epoch, partition)
);

-- One row: whose turn it is to seal, and the number of the last recorded seal.
create table sealer (
  singleton boolean primary key default true constraint sealer_one_row_check check (singleton),
  generation bigint not null default 0,
  last_number bigint not null default 0,
  leased_until timestamptz not null default '-infinity',
  -- On ClickHouse's clock, in milliseconds: buckets marked before it are sealed. Null: all must be looked at.
  listed_since bigint,
  -- Every bucket is to be computed again, whatever its seal says.
  rebuild_requested_at timestamptz
);
insert into sealer default values;

-- Bucket rows carry `generation << 32 | number`; they count only when that pair stands here. Numbers
-- have no gaps and each was recorded by one generation. Never deleted: old buckets keep their seal.
create table seals (
  number bigint primary key,
  generation bigint not null,
  -- Partition number to packed position, as text.
  watermarks jsonb not null,
  recorded_at timestamptz not null default now()
);
