import { randomUUID } from 'node:crypto';
import type { Pool, Scope } from '../../postgres/client.ts';

/**
 * Writes some row of a scope into a table, with no knowledge but that of the database: values
 * of the columns' types, and of their checks where those list values. Foreign keys and triggers are left
 * out. Answers false where a constraint asks for more than that.
 */
export async function insertAnyRow(pool: Pool, table: string, scope: Scope): Promise<boolean> {
  const columns = await pool<{ name: string; type: string; is_needed: boolean }[]>`
    select attname as name, format_type(atttypid, null) as type,
           attnotnull and not atthasdef and attidentity = '' and attgenerated = '' as is_needed
      from pg_attribute
     where attrelid = ${table}::regclass and attnum > 0 and not attisdropped
     order by attnum`;
  const checks = await pool<{ text: string }[]>`
    select pg_get_constraintdef(oid) as text from pg_constraint
     where conrelid = ${table}::regclass and contype = 'c'`;
  const listed = (column: string): string | undefined =>
    checks
      .map(({ text }) => new RegExp(`\\(${column} = ANY \\(ARRAY\\['([^']+)'`).exec(text)?.[1])
      .find((value) => value !== undefined);

  const row: Record<string, unknown> = {};
  for (const { name, type, is_needed } of columns) {
    if (is_needed) row[name] = listed(name) ?? valueOf(type);
    if (name === 'environment_id') row[name] = scope.environment_id;
    if (name === (table === 'tenants' ? 'id' : 'tenant_id')) row[name] = scope.tenant_id;
  }
  const names = Object.keys(row);
  return await pool
    .begin(async (tx) => {
      await tx`set local session_replication_role = replica`;
      await tx`
        insert into ${tx(table)} (${tx(names)})
        select ${tx(names)}
          from jsonb_populate_record(null::${tx(table)}, ${tx.json(row as never)})`;
    })
    .then(
      () => true,
      () => false,
    );
}

/** Numbers and times ascend from value to value: keys differ, and what begins first ends later. */
let made = 0;
function valueOf(type: string): unknown {
  made += 1;
  if (/^(text|character varying)$/.test(type)) return randomUUID();
  if (type === 'numeric') return 1;
  if (/^(smallint|integer|bigint|double precision)$/.test(type)) return made;
  if (type === 'boolean') return false;
  if (/^(timestamp|date)/.test(type))
    return new Date(Date.UTC(2026, 0, 1) + made * 1000).toISOString();
  if (type === 'bytea') return `\\x${randomUUID().replaceAll('-', '')}`;
  if (type === 'jsonb') return {};
  return type.endsWith('[]') ? [] : randomUUID();
}
