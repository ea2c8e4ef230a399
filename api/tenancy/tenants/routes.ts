import { notFound } from '../../../domain/errors.ts';
import { isoTime } from '../../../platform/clock.ts';
import { IdParams } from '../../../schemas/primitives.ts';
import { Tenant, UpdateTenantBody } from '../../../schemas/tenancy.ts';
import { TenantBilling } from '../../../schemas/tenant-billing.ts';
import { sent } from '../../conventions/record.ts';
import { route } from '../../conventions/route.ts';
import { getTenant, updateTenantRow } from './repository.ts';

export const tenantRoutes = [
  route({
    method: 'GET',
    path: '/tenants/billing',
    summary: 'Get what the tenant owes its operator: always empty, because tenants are not billed',
    permission: 'authenticated',
    withoutEnvironment: true,
    status: 200,
    answer: TenantBilling,
    handler: async () => ({
      subscriptions: [],
      usage: { customer_id: '', features: [], period: null, pagination: null },
    }),
  }),
  route({
    method: 'GET',
    path: '/tenants/{id}',
    summary: 'Get the tenant of the caller',
    permission: 'authenticated',
    withoutEnvironment: true,
    params: IdParams,
    status: 200,
    answer: Tenant,
    async handler({ deps, scope, params }) {
      if (params.id !== scope.tenant_id) throw notFound('Tenant', params.id);
      return await getTenant(deps.pool, params.id);
    },
  }),
  route({
    method: 'PUT',
    path: '/tenants/update',
    summary: 'Update the tenant of the caller',
    permission: 'tenant:write',
    withoutEnvironment: true,
    body: UpdateTenantBody,
    status: 200,
    answer: Tenant,
    handler: ({ deps, scope, body }) =>
      deps.pool.begin((tx) => {
        const details = body.billing_details;
        return updateTenantRow(tx, scope.tenant_id, {
          ...(body.name ? { name: body.name } : {}),
          ...(body.metadata == null ? {} : { metadata: body.metadata }),
          ...(details == null
            ? {}
            : {
                billing_details: sent({
                  email: details.email || null,
                  help_email: details.help_email || null,
                  phone: details.phone ?? null,
                  address: sent(details.address ?? {}),
                }),
              }),
          updated_at: isoTime(deps.clock.now()),
        });
      }),
  }),
];
