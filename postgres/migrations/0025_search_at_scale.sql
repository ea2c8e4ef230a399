-- A search over a million customers of one environment answers a page and the exact number of matches
-- in milliseconds. Three things make it so:
--   1. `record_counts` holds how many records a scope has, kept by statement triggers in the transaction
--      that writes. A writer takes any row that no other transaction holds and makes one when there is
--      none: writers never wait for each other, and the number is the sum of the rows.
--   2. The list's own index carries the status, so that counts of a time range are read from the index.
--   3. Indexes for the columns that lists are sorted by, and trigrams for text anywhere in a value.
-- Locks: customers for the time it takes to build the indexes.
create extension if not exists pg_trgm;

create table record_counts (
  table_name text not null,
  tenant_id text not null,
  environment_id text not null,
  slot bigint generated always as identity primary key,
  published bigint not null default 0,
  archived bigint not null default 0,
  deleted bigint not null default 0
) with (fillfactor = 50);
create index record_counts_scope_idx on record_counts (tenant_id, environment_id, table_name);

create function add_record_counts(
  counted_table text, counted_tenant text, counted_environment text,
  more_published bigint, more_archived bigint, more_deleted bigint
) returns void language plpgsql as $$
declare
  free bigint;
begin
  select slot into free
    from record_counts
   where table_name = counted_table
     and tenant_id = counted_tenant and environment_id = counted_environment
   limit 1 for update skip locked;
  if free is null then
    insert into record_counts (table_name, tenant_id, environment_id, published, archived, deleted)
    values (counted_table, counted_tenant, counted_environment, more_published, more_archived, more_deleted);
  else
    update record_counts
       set published = published + more_published,
           archived = archived + more_archived,
           deleted = deleted + more_deleted
     where slot = free;
  end if;
end $$;

-- Called with the rows before and after a statement; tables give them the names `old_rows`, `new_rows`.
create function count_inserted_records() returns trigger language plpgsql as $$
begin
  perform add_record_counts(tg_table_name, tenant_id, environment_id,
            count(*) filter (where status = 'published'),
            count(*) filter (where status = 'archived'),
            count(*) filter (where status = 'deleted'))
     from new_rows group by tenant_id, environment_id;
  return null;
end $$;
create function count_deleted_records() returns trigger language plpgsql as $$
begin
  perform add_record_counts(tg_table_name, tenant_id, environment_id,
            - count(*) filter (where status = 'published'),
            - count(*) filter (where status = 'archived'),
            - count(*) filter (where status = 'deleted'))
     from old_rows group by tenant_id, environment_id;
  return null;
end $$;
create function count_updated_records() returns trigger language plpgsql as $$
begin
  perform add_record_counts(tg_table_name, tenant_id, environment_id,
            coalesce(sum(change) filter (where status = 'published'), 0)::bigint,
            coalesce(sum(change) filter (where status = 'archived'), 0)::bigint,
            coalesce(sum(change) filter (where status = 'deleted'), 0)::bigint)
     from (select tenant_id, environment_id, status, sum(by)::bigint as change
             from (select tenant_id, environment_id, status, 1 as by from new_rows
                   union all
                   select tenant_id, environment_id, status, -1 from old_rows) rows
            group by tenant_id, environment_id, status
           having sum(by) <> 0) changes
    group by tenant_id, environment_id;
  return null;
end $$;

create trigger customers_inserted_count after insert on customers
  referencing new table as new_rows
  for each statement execute function count_inserted_records();
create trigger customers_deleted_count after delete on customers
  referencing old table as old_rows
  for each statement execute function count_deleted_records();
create trigger customers_updated_count after update on customers
  referencing old table as old_rows new table as new_rows
  for each statement execute function count_updated_records();

insert into record_counts (table_name, tenant_id, environment_id, published, archived, deleted)
select 'customers', tenant_id, environment_id,
       count(*) filter (where status = 'published'),
       count(*) filter (where status = 'archived'),
       count(*) filter (where status = 'deleted')
  from customers group by tenant_id, environment_id;

drop index customers_environment_id_idx;
create index customers_environment_id_idx
    on customers (tenant_id, environment_id, created_at desc, id desc) include (status);
-- A partial index has no statistics of its expression, and the planner would walk the list instead.
drop index customers_email_idx;
create index customers_email_idx on customers (tenant_id, environment_id, lower(email));
create index customers_updated_at_idx on customers (tenant_id, environment_id, updated_at);
create index customers_name_idx on customers (tenant_id, environment_id, name);
create index customers_external_id_idx on customers (tenant_id, environment_id, external_id);
-- Some insert brings the pending entries in, and waits for that: seldom and long with the usual 4 MB,
-- which a tenth of all creates felt at 500 a second; often and short with this.
create index customers_text_idx on customers
 using gin (name gin_trgm_ops, external_id gin_trgm_ops, email gin_trgm_ops)
  with (gin_pending_list_limit = 256);

-- Row security lets an index be used for a condition only when its function is known not to show what it
-- was given. These compare and answer; none puts a value into an error. A login that may not say so keeps
-- working, with searches by text that read the whole scope.
do $$ begin
  alter function texticlike(text, text) leakproof;
  alter function lower(text) leakproof;
exception when insufficient_privilege then
  raise notice 'texticlike and lower stay leaky: only a superuser may change them';
end $$;
