import { notFound } from '../../../domain/errors.ts';
import type { Db, Transaction } from '../../../postgres/client.ts';
import { columnsOf, jsonOf } from '../../../postgres/parameters.ts';
import type { BillingDetails, Tenant } from '../../../schemas/tenancy.ts';

/** Addresses are never null: browsers print the value as it is (api 37). */
const addressAnswer = (address: Partial<Address> | undefined): BillingDetails['address'] => ({
  address_line1: address?.address_line1 ?? '',
  address_line2: address?.address_line2 ?? '',
  address_city: address?.address_city ?? '',
  address_state: address?.address_state ?? '',
  address_postal_code: address?.address_postal_code ?? '',
  address_country: address?.address_country ?? '',
});
type Address = { [Field in keyof BillingDetails['address']]: string | null };

type TenantRow = Omit<Tenant, 'billing_details'> & {
  readonly billing_details:
    (Partial<Omit<BillingDetails, 'address'>> & { readonly address?: Partial<Address> }) | null;
};

/** The tenant with every key of the billing details. */
const answer = (row: TenantRow): Tenant => ({
  ...row,
  billing_details: {
    email: null,
    help_email: null,
    phone: null,
    ...row.billing_details,
    address: addressAnswer(row.billing_details?.address),
  },
});

/** The tenant with every key of the billing details. 404 if it is unknown. */
export async function getTenant(db: Db, id: string): Promise<Tenant> {
  const [row] = await db<TenantRow[]>`
    select id, name, status, metadata, billing_details, created_at, updated_at
      from tenants where id = ${id}`;
  if (row === undefined) throw notFound('Tenant', id);
  return answer(row);
}

/** Changes the given columns. 404 if it is unknown. */
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
    update tenants set ${columnsOf(tx, {
      ...rest,
      ...(metadata ? { metadata: tx.json(metadata) } : {}),
      ...(billing_details ? { billing_details: jsonOf(tx, billing_details) } : {}),
    })}
     where id = ${id}`;
  return await getTenant(tx, id);
}
