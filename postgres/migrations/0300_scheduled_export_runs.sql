-- Scheduled exports run when they are due (money 19.4). `scheduled_for` is the end of the window of a run that the
-- clock asked for: one row for each task and window. `due_at` is the next attempt of a run that failed. Adding the
-- columns rewrites nothing; the indexes are built under a short lock, because the table holds requests made by hand.
alter table scheduled_task_runs
  add column scheduled_for timestamptz(3),
  add column attempts integer not null default 0,
  add column due_at timestamptz(3) not null default now(),
  add column exported_rows bigint,
  add column object_keys text[] not null default '{}';
create unique index scheduled_task_runs_scheduled_for_key
    on scheduled_task_runs (scheduled_task_id, scheduled_for) where scheduled_for is not null;
drop index scheduled_task_runs_open_idx;
create index scheduled_task_runs_open_idx
    on scheduled_task_runs (due_at, id) where run_status in ('PENDING', 'PROCESSING');
-- Builds under a lock against writers: seconds for a million invoices.
create index invoices_finalized_at_idx
    on invoices (tenant_id, environment_id, finalized_at, id) where finalized_at is not null;
create index scheduled_tasks_enabled_idx on scheduled_tasks (id) where enabled and status = 'published';
