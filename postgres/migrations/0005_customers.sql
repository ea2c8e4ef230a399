-- Who is billed. The external id is the tenant's own name for the customer and what usage events carry;
-- it is unique among published customers, so an archived customer's id may be given again.
-- Locks nothing: the table is new.
create table customers (
  id text primary key,
  tenant_id text not null references tenants (id),
  environment_id text not null references environments (id),
  external_id text not null,
  name text not null,
  email text,
  contact text,
  contact_persons jsonb not null default '[]',
  address_line1 text,
  address_line2 text,
  address_city text,
  address_state text,
  address_postal_code text,
  address_country text,
  timezone text not null default 'UTC',
  billing_currency text,
  tax_treatment text not null default 'taxable'
    constraint customers_tax_treatment_check check (tax_treatment in ('taxable', 'exempt')),
  metadata jsonb not null default '{}',
  status text not null default 'published',
  created_at timestamptz(3) not null default now(),
  updated_at timestamptz(3) not null default now(),
  created_by text not null default '',
  updated_by text not null default ''
);
create unique index customers_external_id_key on customers (tenant_id, environment_id, external_id)
 where status = 'published';
create index customers_environment_id_idx on customers (tenant_id, environment_id, created_at desc, id desc);
create index customers_email_idx on customers (tenant_id, environment_id, lower(email)) where email is not null;
