import type { Walker } from './client.ts';

export const WALKED_CUSTOMER = 'walk-acme';

export async function walkCustomers({ walk }: Walker, planId: string): Promise<string> {
  const customer = await walk('POST /customers', (sdk) =>
    sdk.customers.createCustomer({
      externalId: WALKED_CUSTOMER, name: 'Acme', email: 'a@example.test', addressLine1: 'Street 1',
      addressCity: 'Town', addressCountry: 'DE', metadata: { a: 'b' },
    }),
  ); // prettier-ignore
  const id = customer.id!;
  const external = await walk('GET /customers/external/{external_id}', (sdk) =>
    sdk.customers.getCustomerByExternalId(WALKED_CUSTOMER),
  );
  expect(external).toEqual(customer);
  expect(await walk('GET /customers/{id}', (sdk) => sdk.customers.getCustomer(id))).toEqual(
    customer,
  );
  await walk('PUT /customers', (sdk) => sdk.customers.updateCustomer({ name: 'Acme Ltd' }, id));
  await walk('POST /customers/search', (sdk) =>
    sdk.customers.queryCustomer({
      limit: 10,
      sort: [{ field: 'created_at', direction: 'desc' }],
      filters: [
        { field: 'name', operator: 'contains', dataType: 'string', value: { string: 'Ltd' } },
      ],
    }),
  );
  await walk('POST /subscriptions', (sdk) =>
    sdk.subscriptions.createSubscription({
      customerId: id, planId, currency: 'usd', billingCadence: 'RECURRING', billingPeriod: 'MONTHLY',
      billingPeriodCount: 1, billingCycle: 'anniversary',
    }),
  ); // prettier-ignore
  await walk('GET /customers/{id}/entitlements', (sdk) =>
    sdk.customers.getCustomerEntitlements(id),
  );
  await walk('GET /customers/usage', (sdk) =>
    sdk.customers.getCustomerUsageSummary({ customerId: id }),
  );
  await walk('GET /customers/{id}/grants/upcoming', (sdk) =>
    sdk.customers.getCustomerUpcomingGrants(id),
  );

  const spare = await walk('POST /customers', (sdk) =>
    sdk.customers.createCustomer({ externalId: 'walk-spare', name: 'Spare' }),
  );
  await walk('DELETE /customers/{id}', (sdk) => sdk.customers.deleteCustomer(spare.id!));
  return id;
}
