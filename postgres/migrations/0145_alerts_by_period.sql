-- Alerts on spend and on granted usage are evaluated by period: the log says to which period a state belongs,
-- and a new period begins at ok. The first index finds the last state of an entity under a parent, the second
-- one the entities with a state in a period. Levels of spend get the hysteresis that those of wallets have; it
-- is 0 for the stored ones. Locks alert_logs for the time of building the indexes.
alter table alert_logs add column period_start timestamptz(3);
create index alert_logs_parent_entity_id_idx
    on alert_logs (tenant_id, environment_id, parent_entity_id, entity_id, alert_type, created_at desc, id desc)
 where parent_entity_id is not null;
create index alert_logs_period_start_idx
    on alert_logs (tenant_id, environment_id, entity_id, period_start) where period_start is not null;
-- Every evaluation of a wallet looks for them.
create index features_alert_settings_idx
    on features (tenant_id, environment_id) where alert_settings is not null and status = 'published';

update alert_settings
   set config = (select jsonb_object_agg(key, case when jsonb_typeof(value) = 'object'
                                                   then value || '{"hysteresis": 0}'::jsonb else value end)
                   from jsonb_each(config));
