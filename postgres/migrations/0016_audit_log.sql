-- Who changed what (reliability, S25). A row per record that a statement created, changed or deleted,
-- written by triggers in the transaction of the change: there is no change without its row and no row
-- without its change. Which tables have the triggers is decided in postgres/audit-triggers.ts. Rows are
-- never changed or deleted, whoever asks. Locks nothing: all tables are new.
create table audit_log (
  sequence bigint generated always as identity primary key,
  id text not null default 'audit_' || upper(left(replace(gen_random_uuid()::text, '-', ''), 26)),
  tenant_id text not null,
  -- Empty for what belongs to the tenant as a whole.
  environment_id text not null,
  entity_type text not null,
  entity_id text not null,
  action text not null constraint audit_log_action_check check (action in ('created', 'updated', 'deleted')),
  -- The whole record where it came or went, the changed fields with both values where it changed.
  before jsonb,
  after jsonb,
  -- user, service_account, customer (in the portal), public (sign-up) or system.
  actor_kind text not null,
  user_id text,
  key_id text,
  -- Of the system: the job, or the process.
  job text,
  request_id text,
  ip text,
  created_at timestamptz not null default clock_timestamp()
);
create index audit_log_tenant_id_idx on audit_log (tenant_id, created_at desc, id desc);
create index audit_log_entity_id_idx on audit_log (tenant_id, entity_id, created_at desc);

create function refuse_change() returns trigger language plpgsql as $$
begin
  raise exception '% is append-only: % refused', tg_table_name, lower(tg_op) using errcode = 'ML002';
end $$;
create trigger audit_log_append_only before update or delete or truncate on audit_log
  for each statement execute function refuse_change();

-- A record as it may be kept for ever: without what opens a door, and without what belongs to a person
-- who may ask to be forgotten. Whole columns by name, and fields inside of `nested` columns by the look of
-- their name.
create function audit_redacted(record jsonb, secrets text[], personal text[], nested text[]) returns jsonb
language plpgsql immutable as $$
declare
  field text;
begin
  foreach field in array secrets loop
    if record -> field <> 'null' then record := jsonb_set(record, array[field], '"[redacted]"'); end if;
  end loop;
  foreach field in array personal loop
    if record -> field <> 'null' then record := jsonb_set(record, array[field], '"[personal]"'); end if;
  end loop;
  foreach field in array nested loop
    if record -> field not in ('null', '{}', '[]')
       and (record ->> field) ~* '(password|secret|token|private_key|api_key|access_key|credential)s?"' then
      record := jsonb_set(record, array[field], audit_redacted_within(record -> field));
    end if;
  end loop;
  return record;
end $$;

create function audit_redacted_within(value jsonb) returns jsonb language plpgsql immutable as $$
begin
  return case jsonb_typeof(value)
    when 'object' then (
      select coalesce(jsonb_object_agg(f.key,
               case when jsonb_typeof(f.value) <> 'null'
                     and f.key ~* '(^|_)(password|secrets?|token|private_key|api_key|access_key|credentials?)$'
                    then '"[redacted]"' else audit_redacted_within(f.value) end), '{}')
        from jsonb_each(value) f)
    when 'array' then (
      select coalesce(jsonb_agg(audit_redacted_within(e.value) order by e.place), '[]')
        from jsonb_array_elements(value) with ordinality e (value, place))
    else value end;
end $$;

-- The triggers' work. Their arguments: the entity type, then columns with a letter in front: `s:` a
-- secret, `p:` personal data, `j:` nested values, `n:` a column whose change alone is not noted. They run
-- as the tables' owner, because nobody else may write the log. `offset 0` keeps a record from being made
-- again for every use of it: an update cost 20 times as much without.
create function audit_created() returns trigger language plpgsql security definer as $$
declare
  actor jsonb := coalesce(nullif(current_setting('meterline.actor', true), '')::jsonb,
    jsonb_build_object('kind', 'system', 'job', current_setting('application_name')));
  secrets text[] := array(select substr(a, 3) from unnest(tg_argv) a where a like 's:%');
  personal text[] := array(select substr(a, 3) from unnest(tg_argv) a where a like 'p:%');
  nested text[] := array(select substr(a, 3) from unnest(tg_argv) a where a like 'j:%');
begin
  insert into audit_log (tenant_id, environment_id, entity_type, entity_id, action, after,
                         actor_kind, user_id, key_id, job, request_id, ip)
  select coalesce(r ->> 'tenant_id', r ->> 'id'), coalesce(r ->> 'environment_id', ''),
         tg_argv[0], r ->> 'id', 'created', audit_redacted(r, secrets, personal, nested),
         actor ->> 'kind', actor ->> 'user_id', actor ->> 'key_id', actor ->> 'job',
         actor ->> 'request_id', actor ->> 'ip'
    from (select to_jsonb(n) as r from new_rows n offset 0) made;
  return null;
end $$;

create function audit_updated() returns trigger language plpgsql security definer as $$
declare
  actor jsonb := coalesce(nullif(current_setting('meterline.actor', true), '')::jsonb,
    jsonb_build_object('kind', 'system', 'job', current_setting('application_name')));
  secrets text[] := array(select substr(a, 3) from unnest(tg_argv) a where a like 's:%');
  personal text[] := array(select substr(a, 3) from unnest(tg_argv) a where a like 'p:%');
  nested text[] := array(select substr(a, 3) from unnest(tg_argv) a where a like 'j:%');
  unnoted text[] := array(select substr(a, 3) from unnest(tg_argv) a where a like 'n:%');
begin
  insert into audit_log (tenant_id, environment_id, entity_type, entity_id, action, before, after,
                         actor_kind, user_id, key_id, job, request_id, ip)
  select coalesce(b ->> 'tenant_id', b ->> 'id'), coalesce(b ->> 'environment_id', ''),
         tg_argv[0], b ->> 'id',
         case when b ->> 'status' = 'published' and a ->> 'status' in ('archived', 'deleted')
              then 'deleted' else 'updated' end,
         audit_redacted(was, secrets, personal, nested), audit_redacted(now_is, secrets, personal, nested),
         actor ->> 'kind', actor ->> 'user_id', actor ->> 'key_id', actor ->> 'job',
         actor ->> 'request_id', actor ->> 'ip'
    from (select to_jsonb(o) as b, to_jsonb(n) as a
            from old_rows o join new_rows n on n.id = o.id offset 0) pairs
   cross join lateral (
     select jsonb_object_agg(f.key, b -> f.key) as was, jsonb_object_agg(f.key, f.value) as now_is
       from jsonb_each(a - unnoted) f
      where f.value is distinct from b -> f.key) changes
   where now_is is not null;
  return null;
end $$;

create function audit_deleted() returns trigger language plpgsql security definer as $$
declare
  actor jsonb := coalesce(nullif(current_setting('meterline.actor', true), '')::jsonb,
    jsonb_build_object('kind', 'system', 'job', current_setting('application_name')));
  secrets text[] := array(select substr(a, 3) from unnest(tg_argv) a where a like 's:%');
  personal text[] := array(select substr(a, 3) from unnest(tg_argv) a where a like 'p:%');
  nested text[] := array(select substr(a, 3) from unnest(tg_argv) a where a like 'j:%');
begin
  insert into audit_log (tenant_id, environment_id, entity_type, entity_id, action, before,
                         actor_kind, user_id, key_id, job, request_id, ip)
  select coalesce(r ->> 'tenant_id', r ->> 'id'), coalesce(r ->> 'environment_id', ''),
         tg_argv[0], r ->> 'id', 'deleted', audit_redacted(r, secrets, personal, nested),
         actor ->> 'kind', actor ->> 'user_id', actor ->> 'key_id', actor ->> 'job',
         actor ->> 'request_id', actor ->> 'ip'
    from (select to_jsonb(o) as r from old_rows o offset 0) gone;
  return null;
end $$;

-- A function that runs as the owner looks into this schema first, whatever the caller has made elsewhere.
do $$
declare
  trigger_function text;
begin
  foreach trigger_function in array array['audit_created', 'audit_updated', 'audit_deleted'] loop
    execute format('alter function %I() set search_path = %I, pg_temp', trigger_function, current_schema());
  end loop;
end $$;
