import type { Pool } from '../../../postgres/client.ts';
import { writeOutbox } from '../../../postgres/tables/outbox.ts';
import type {
  ContactPerson,
  ContactPersonBody,
  CreateCustomerBody,
  Customer,
} from '../../../schemas/customer.ts';
import { below } from '../../conventions/bulk-error.ts';
import type { BillingDeps } from '../../deps.ts';
import { newRecord, type Caller } from '../../conventions/record.ts';
import { associateTaxRate } from '../../catalog/taxes/associate-tax-rate.ts';
import { testClockOfNewCustomer } from '../test-clocks/repository.ts';
import { workflowOf } from './onboarding.ts';
import { assertKnownCurrency } from '../../tenancy/settings/custom-currencies.ts';
import { linkCustomer } from './link-customer.ts';
import { customerAnswer, insertCustomer, type CustomerRow } from './repository.ts';

/**
 * Creates a customer with the given tax rates and provider links. 409 if a published customer has the
 * external id. A customer without any of these takes one statement, which makes one round trip including
 * begin and commit; a transaction of steps makes three.
 */
export async function createCustomer(
  pool: Pool,
  deps: BillingDeps,
  caller: Caller,
  body: CreateCustomerBody,
): Promise<Customer> {
  if (body.billing_currency)
    await assertKnownCurrency(pool, caller.scope, body.billing_currency, 'billing_currency');
  const row: Omit<CustomerRow, 'integrations'> = {
    ...newRecord(deps, caller, 'cust'),
    external_id: body.external_id,
    name: body.name,
    email: body.email ?? null,
    contact: body.contact ?? null,
    contact_persons: contactPersons(deps, body.contact_persons ?? []),
    address_line1: body.address_line1 ?? null,
    address_line2: body.address_line2 ?? null,
    address_city: body.address_city ?? null,
    address_state: body.address_state ?? null,
    address_postal_code: body.address_postal_code ?? null,
    address_country: body.address_country ?? null,
    timezone: body.timezone || body.customer_timezone || 'UTC',
    billing_currency: body.billing_currency || null,
    tax_treatment: body.tax_treatment || 'taxable',
    test_clock_id: body.test_clock_id ?? null,
    metadata: body.metadata ?? {},
  };
  const links = body.integration_entity_mapping ?? [];
  const overrides = body.tax_rate_overrides ?? [];
  const workflow = await workflowOf(pool, caller.scope, body);
  const onboarding = workflow === null ? null : { id: deps.ids.next('onboard'), workflow };
  if (links.length === 0 && overrides.length === 0 && row.test_clock_id === null) {
    const customer = customerAnswer({ ...row, integrations: [] });
    await insertCustomer(pool, row, { created: { customer }, onboarding });
    return customer;
  }
  return await pool.begin(async (tx) => {
    if (row.test_clock_id !== null)
      await testClockOfNewCustomer(tx, caller.scope, row.test_clock_id);
    await insertCustomer(tx, row, { created: null, onboarding });
    const mappings = await linkCustomer(tx, deps, caller, row.id, links);
    const customer = customerAnswer({ ...row, integrations: mappings.reverse() });
    await writeOutbox(tx, caller.scope, 'customer.created', { customer });
    for (const [index, override] of overrides.entries())
      await associateTaxRate(
        tx,
        deps,
        caller,
        { type: 'customer', id: customer.id },
        override,
      ).catch((error: unknown) => {
        throw below(error, `tax_rate_overrides[${index}]`);
      });
    return customer;
  });
}

/** Contact persons with every key; a new one gets an id, an existing one keeps it. */
export function contactPersons(
  deps: Pick<BillingDeps, 'ids'>,
  persons: readonly ContactPersonBody[],
): ContactPerson[] {
  return persons.map((person) => ({
    id: person.id || deps.ids.next('contact'),
    first_name: person.first_name ?? '',
    last_name: person.last_name ?? null,
    salutation: person.salutation ?? null,
    designation: person.designation ?? null,
    department: person.department ?? null,
    email: person.email ?? null,
    mobile: person.mobile ?? null,
    is_primary: person.is_primary ?? false,
  }));
}
