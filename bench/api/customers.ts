import { createHash } from 'node:crypto';
import type { Pool, Scope } from '../../postgres/client.ts';

export const CUSTOMERS = 1_000_000;

const NAMES = [
  'Acme', 'Globex', 'Initech', 'Umbrella', 'Stark', 'Wayne', 'Hooli', 'Vehement', 'Massive', 'Soylent',
]; // prettier-ignore

const md5 = (n: number) => createHash('md5').update(String(n)).digest('hex');
export const customerId = (n: number) => `cust_${n.toString(16).toUpperCase().padStart(26, '0')}`;
export const customerExternalId = (n: number) => `ext-${n}`;
export const customerName = (n: number) => `${NAMES[n % NAMES.length]} ${md5(n).slice(0, 12)}`;
export const customerEmail = (n: number) => `billing${n}@${md5(n).slice(0, 8)}.example`;

/**
 * Customers of one scope, a million without a number, one in ten archived, created over a year. Written directly in the
 * database with triggers off; text is indexed afterwards; counters get the values the triggers would set.
 */
export async function makeCustomers(pool: Pool, scope: Scope, count = CUSTOMERS): Promise<void> {
  await pool.unsafe('drop index customers_text_idx');
  await pool.begin(async (tx) => {
    await tx`alter table customers disable trigger user`;
    await tx`
      insert into customers
        (id, tenant_id, environment_id, external_id, name, email, status, created_at, updated_at)
      select 'cust_' || lpad(upper(to_hex(n)), 26, '0'), ${scope.tenant_id}, ${scope.environment_id},
             'ext-' || n, (${NAMES}::text[])[1 + n % 10] || ' ' || substr(md5(n::text), 1, 12),
             'billing' || n || '@' || substr(md5(n::text), 1, 8) || '.example',
             case when n % 10 = 0 then 'archived' else 'published' end,
             '2025-12-01T00:00:00Z'::timestamptz + n * interval '30 seconds',
             '2026-11-21T00:00:00Z'::timestamptz - (n % 999983) * interval '7 seconds'
        from generate_series(1, ${count}::int) n`;
    await tx`
      insert into record_counts (table_name, tenant_id, environment_id, published, archived)
      select 'customers', ${scope.tenant_id}, ${scope.environment_id},
             count(*) filter (where status = 'published'), count(*) filter (where status = 'archived')
        from customers
       where tenant_id = ${scope.tenant_id} and environment_id = ${scope.environment_id}`;
    await tx`alter table customers enable trigger user`;
  });
  await pool.unsafe(`
    create index customers_text_idx on customers
     using gin (name gin_trgm_ops, external_id gin_trgm_ops, email gin_trgm_ops)
      with (gin_pending_list_limit = 256)`);
  await pool.unsafe('vacuum analyze customers');
}
