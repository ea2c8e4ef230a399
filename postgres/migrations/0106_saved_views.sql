-- Views of pages that people keep by name: the page and the query of its address. Locks nothing: the table is
-- new.
create table saved_views (
  id text primary key,
  tenant_id text not null,
  environment_id text not null,
  -- Who saved it. Others see it only if it is shared.
  user_id text not null,
  name text not null,
  page text not null,
  query text not null,
  is_shared boolean not null,
  status text not null,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  created_by text not null,
  updated_by text not null
);
create unique index saved_views_name_key on saved_views (tenant_id, environment_id, user_id, page, name);
