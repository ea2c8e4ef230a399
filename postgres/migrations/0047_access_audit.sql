-- Logins, failures, lock-outs, log-outs and changes of passwords stand in the audit log beside the changes of
-- records, and every row says which program the caller used. A session says where it was opened.
-- Locks: audit_log and sessions for a moment; no row is rewritten or looked at (`not valid`).

-- Of the caller of the statement; the triggers' functions need not hand it on. Null for every earlier row.
alter table audit_log
  add column user_agent text
    default (nullif(current_setting('meterline.actor', true), '')::jsonb ->> 'user_agent');

alter table audit_log drop constraint audit_log_action_check;
alter table audit_log add constraint audit_log_action_check check (action in (
  'created', 'updated', 'deleted',
  'logged_in', 'login_failed', 'locked_out', 'logged_out', 'session_ended', 'refresh_reused',
  'password_changed', 'password_reset_requested', 'password_reset')) not valid;

alter table sessions
  add column ip text,
  add column user_agent text,
  add column last_used_at timestamptz(3);

-- Writes what a person did, or failed to do, to get in. The caller is that of the statement unless given. Who
-- runs as the API's role writes into the log of its own tenant only.
create function audit_access(tenant text, person text, action text, details jsonb, given_actor jsonb)
returns void language plpgsql security definer as $$
declare
  actor jsonb := coalesce(given_actor, nullif(current_setting('meterline.actor', true), '')::jsonb,
    jsonb_build_object('kind', 'system', 'job', current_setting('application_name')));
begin
  if 'meterline_api' in (session_user, current_setting('role'))
     and tenant is distinct from nullif(current_setting('meterline.tenant', true), '') then
    raise exception 'another tenant''s audit log' using errcode = '42501';
  end if;
  -- Whoever showed a password, an assertion or a token has become the person.
  if action in ('logged_in', 'password_reset') and actor ->> 'kind' = 'public' then
    actor := actor || jsonb_build_object('kind', 'user', 'user_id', person);
  end if;
  insert into audit_log (tenant_id, environment_id, entity_type, entity_id, action, after,
                         actor_kind, user_id, key_id, job, request_id, ip, user_agent)
  values (tenant, '', 'user', person, action, details,
          actor ->> 'kind', actor ->> 'user_id', actor ->> 'key_id', actor ->> 'job',
          actor ->> 'request_id', actor ->> 'ip', actor ->> 'user_agent');
end $$;
do $$ begin
  execute format('alter function audit_access(text, text, text, jsonb, jsonb) set search_path = %I, pg_temp',
                 current_schema());
end $$;
