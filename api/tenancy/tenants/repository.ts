import { notFound } from '../../../domain/errors.ts';
import type { Db, Transaction } from '../../../postgres/client.ts';
import type { BillingDetails, Tenant } from '../../../schemas/tenancy.ts';

const NO_ADDRESS = {
  address_line1: null,
  address_line2: null,
  address_city: null,
  address_state: null,
  address_postal_code: null,
  address_country: null,
};

type TenantRow = Omit<Tenant, 'billing_details'> & {
  readonly billing_details: Partial<BillingDetails> | null;
};

/** With every key of the billing details. */
const answer = (row: TenantRow): Tenant => ({
  ...row,
  billing_details: {
    email: null,
    help_email: null,
    phone: null,
    ...row.billing_details,
    address: { ...NO_ADDRESS, ...row.billing_details?.address },
  },
});

export async function findTenant(db: Db, id: string): Promise<Tenant> {
  const [row] = await db<TenantRow[]>`
    select id, name, status, metadata, billing_details, created_at, updated_at
      from tenants where id = ${id}`;
  if (row === undefined) throw notFound('Tenant', id);
  return answer(row);
}

export async function updateTenantRow(
  tx: Transaction,
  id: string,
  changes: {
    readonly name?: string;
    readonly metadata?: Record<string, string>;
    readonly billing_details?: object;
    readonly updated_at: string;
  },
): Promise<Tenant> {
  const { metadata, billing_details, ...rest } = changes;
  await tx`
    update tenants set ${tx({
      ...rest,
      ...(metadata ? { metadata: tx.json(metadata) } : {}),
      ...(billing_details ? { billing_details: tx.json(billing_details as never) } : {}),
    } as never)}
     where id = ${id}`;
  return await findTenant(tx, id);
}
