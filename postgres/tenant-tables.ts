import type { Db } from './client.ts';

/** A table as found in the database: protection is based on this, not on a list that could be incomplete. */
export interface TenantTable {
  readonly name: string;
  /** The column with the tenant's id: `tenant_id`, and `id` in the table of tenants itself. */
  readonly tenant_column: 'tenant_id' | 'id';
  readonly has_environment: boolean;
  readonly columns: readonly { readonly name: string; readonly type: string }[];
}

/** Every table of a tenant, in the schema that migrations write to. */
export async function tenantTables(db: Db): Promise<TenantTable[]> {
  const rows = await db<{ name: string; columns: TenantTable['columns'] }[]>`
    select c.relname as name,
           jsonb_agg(jsonb_build_object('name', a.attname, 'type', format_type(a.atttypid, null))
                     order by a.attnum) as columns
      from pg_class c
      join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
     where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p')
     group by c.relname
    having c.relname = 'tenants' or bool_or(a.attname = 'tenant_id')
     order by c.relname`;
  return rows.map(({ name, columns }) => ({
    name,
    columns,
    tenant_column: name === 'tenants' ? 'id' : 'tenant_id',
    has_environment: columns.some((column) => column.name === 'environment_id'),
  }));
}
