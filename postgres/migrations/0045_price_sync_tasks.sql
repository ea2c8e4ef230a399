-- Bringing a plan's prices to its subscriptions is a task: it works in pages, shows its progress, and goes on
-- where it stopped. It has no file, and a plan has one open task of this kind.
-- Locks: tasks while the indexes are built.

drop index tasks_upload_id_key;
create unique index tasks_upload_id_key on tasks (upload_id) where entity_type = 'EVENTS';
create unique index tasks_open_price_sync_key
    on tasks (tenant_id, environment_id, (metadata ->> 'plan_id'))
 where entity_type = 'PRICES' and task_status in ('PENDING', 'PROCESSING');
