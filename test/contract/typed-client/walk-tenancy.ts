import type { Walker } from './client.ts';

export async function walkTenancy({ walk }: Walker, tenantId: string): Promise<void> {
  await walk('GET /tenants/{id}', (sdk) => sdk.tenants.getTenantById(tenantId));
  await walk('PUT /tenants/update', (sdk) =>
    sdk.tenants.updateTenant({
      name: 'Acme Billing',
      billingDetails: {
        email: 'a@example.test', phone: '123', helpEmail: 'help@example.test',
        address: { addressLine1: 'Street 1', addressCity: 'Town', addressCountry: 'DE' },
      },
    } as never),
  ); // prettier-ignore
  await walk('GET /tenant/billing', (sdk) => sdk.tenants.getTenantBillingUsage());

  const environment = await walk('POST /environments', (sdk) =>
    sdk.environments.createEnvironment({ name: 'Sandbox', type: 'development' }),
  );
  await walk('PUT /environments/{id}', (sdk) =>
    sdk.environments.updateEnvironment(environment.id!, { name: 'Sand' }),
  );

  await walk('GET /users/me', (sdk) => sdk.users.getUserInfo());
  const account = await walk('POST /users', (sdk) =>
    sdk.users.createUser({ type: 'service_account', roles: ['event_ingestor'] }),
  );
  await walk('POST /users/search', (sdk) => sdk.users.queryUser({ limit: 10 }));
  await walk('GET /rbac/roles', (sdk) => sdk.rbac.listRbacRoles());
  await walk('GET /rbac/roles/{id}', (sdk) => sdk.rbac.getRbacRole('all_reader'));

  const made = await walk('POST /secrets/api/keys', (sdk) =>
    sdk.secrets.createApiKey({
      name: 'Bot', type: 'private_key', serviceAccountId: account.id,
      expiresAt: '2027-01-01T00:00:00Z',
    }),
  ); // prettier-ignore
  await walk('GET /secrets/api/keys', (sdk) => sdk.secrets.listApiKeys(10, 0));
  await walk('DELETE /secrets/api/keys/{id}', (sdk) => sdk.secrets.deleteApiKey(made.secret!.id!));

  const linked = await walk('POST /secrets/integrations/create/{provider}', (sdk) =>
    sdk.integrations.createOrUpdateIntegration('stripe', {
      name: 'Stripe',
      provider: 'stripe',
      credentials: { secret_key: 'sk_test_walk' },
    }),
  );
  await walk('GET /secrets/integrations/by-provider/{provider}', (sdk) =>
    sdk.integrations.getIntegration('stripe'),
  );
  await walk('GET /secrets/integrations/linked', (sdk) =>
    sdk.integrations.listLinkedIntegrations(),
  );
  await walk('DELETE /secrets/integrations/{id}', (sdk) =>
    sdk.integrations.deleteIntegration(linked.id!),
  );
}
