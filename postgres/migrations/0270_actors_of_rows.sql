-- Debits of several callers share a transaction. The setting `meterline.actors` names the actor of each row that
-- such a transaction inserts, by the row's id; rows that it does not name, and every change and deletion, have
-- the actor of the transaction. Replaces audit_created of 0032, which read one actor for the whole statement; the
-- program of the caller is written here because the column's default knows the transaction's caller only.
-- Locks nothing.
create or replace function audit_created() returns trigger language plpgsql security definer as $$
declare
  actor jsonb := coalesce(nullif(current_setting('meterline.actor', true), '')::jsonb,
    jsonb_build_object('kind', 'system', 'job', current_setting('application_name')));
  actors jsonb := nullif(current_setting('meterline.actors', true), '')::jsonb;
begin
  insert into audit_log (tenant_id, environment_id, entity_type, entity_id, action, after,
                         actor_kind, user_id, key_id, job, request_id, ip, user_agent)
  select coalesce(r ->> 'tenant_id', r ->> 'id'), coalesce(r ->> 'environment_id', ''),
         tg_argv[0], r ->> 'id', 'created', audit_redacted(r, tg_argv),
         who ->> 'kind', who ->> 'user_id', who ->> 'key_id', who ->> 'job',
         who ->> 'request_id', who ->> 'ip', who ->> 'user_agent'
    from (select r, coalesce(actors -> (r ->> 'id'), actor) as who
            from (select to_jsonb(n) as r from new_rows n offset 0) made offset 0) rows;
  return null;
end $$;

-- A replaced function has forgotten it (0016).
do $$ begin
  execute format('alter function audit_created() set search_path = %I, pg_temp', current_schema());
end $$;
