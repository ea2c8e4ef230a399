-- Runs of scheduled exports, asked for by the clock or by hand; whoever exports takes the pending ones. A
-- window is half-open and a second run of it is a run of its own: what it writes overwrites
-- (money-semantics 19.4). Locks nothing: the table is new.
create table scheduled_task_runs (
  id text primary key,
  tenant_id text not null references tenants (id),
  environment_id text not null references environments (id),
  scheduled_task_id text not null references scheduled_tasks (id),
  mode text not null constraint scheduled_task_runs_mode_check check (mode in ('automatic', 'custom')),
  start_time timestamptz(3) not null,
  end_time timestamptz(3) not null,
  run_status text not null default 'PENDING' constraint scheduled_task_runs_run_status_check
    check (run_status in ('PENDING', 'PROCESSING', 'COMPLETED', 'FAILED')),
  error_summary text,
  started_at timestamptz(3),
  completed_at timestamptz(3),
  status text not null default 'published',
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  created_by text not null default '',
  updated_by text not null default '',
  constraint scheduled_task_runs_window_check check (start_time < end_time)
);
create index scheduled_task_runs_environment_id_idx
    on scheduled_task_runs (tenant_id, environment_id, created_at desc, id desc);
create index scheduled_task_runs_open_idx
    on scheduled_task_runs (created_at, id) where run_status in ('PENDING', 'PROCESSING');
