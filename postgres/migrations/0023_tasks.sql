-- Files that clients sent, the tasks that import them, and what became of each row. The file stays beside
-- its task, so that a task goes on after any crash; a file belongs to one task only, because two tasks
-- would give rows without an id two ids, and they would count twice. Locks nothing: all tables are new.
create table uploads (
  id text primary key,
  tenant_id text not null references tenants (id),
  environment_id text not null references environments (id),
  file_name text,
  file_type text not null,
  content bytea not null,
  size_bytes integer not null,
  sha256 text not null,
  -- The first line, as it was checked when the file came, and the rows below it.
  columns text[] not null,
  row_count integer not null,
  status text not null default 'published',
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  created_by text not null default '',
  updated_by text not null default ''
);
-- The file is a cell of up to 5 MB: compressed, away from the row.
alter table uploads alter column content set storage extended;
create index uploads_created_at_idx on uploads (created_at);

create table tasks (
  id text primary key,
  tenant_id text not null references tenants (id),
  environment_id text not null references environments (id),
  task_type text not null constraint tasks_task_type_check check (task_type in ('IMPORT', 'EXPORT')),
  entity_type text not null,
  file_provider text not null,
  -- Opaque: the file is forgotten some days after its task.
  upload_id text not null,
  file_type text not null,
  file_name text,
  task_status text not null constraint tasks_task_status_check
    check (task_status in ('PENDING', 'PROCESSING', 'COMPLETED', 'FAILED')),
  total_records integer not null,
  -- The cursor: rows from 1 to this one are done and their results are kept; moved in one transaction
  -- with them.
  processed_records integer not null default 0,
  successful_records integer not null default 0,
  failed_records integer not null default 0,
  error_summary text,
  metadata jsonb not null default '{}',
  started_at timestamptz(3),
  completed_at timestamptz(3),
  failed_at timestamptz(3),
  status text not null default 'published',
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  created_by text not null default '',
  updated_by text not null default '',
  constraint tasks_records_check check (
    processed_records = successful_records + failed_records and processed_records <= total_records)
);
create unique index tasks_upload_id_key on tasks (upload_id);
create index tasks_environment_id_idx on tasks (tenant_id, environment_id, created_at desc, id desc);
create index tasks_open_idx on tasks (updated_at) where task_status in ('PENDING', 'PROCESSING');

-- The outcome of a run of rows that were taken together, one element a row, from `first_row` on.
create table task_results (
  task_id text not null references tasks (id),
  first_row integer not null,
  tenant_id text not null,
  environment_id text not null,
  results jsonb not null,
  primary key (task_id, first_row)
);
