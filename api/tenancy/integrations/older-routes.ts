import { notFound } from '../../../domain/errors.ts';
import type { Connection } from '../../../schemas/connection.ts';
import { IntegrationMapping } from '../../../schemas/customer.ts';
import {
  CreateIntegrationBody,
  IntegrationSecret,
  LinkBody,
  LinkedProviders,
  ProviderParams,
} from '../../../schemas/integration.ts';
import { IdParams } from '../../../schemas/primitives.ts';
import { createConnection } from '../connections/change-connection.ts';
import { connectionTo, publishedConnections } from '../connections/repository.ts';
import { route } from '../../conventions/route.ts';
import { linkEntity } from './link.ts';
import { endMapping } from './repository.ts';

const secretOf = (connection: Connection) => ({
  id: connection.id,
  name: connection.name,
  type: 'integration' as const,
  provider: connection.provider_type,
  display_id: '',
  roles: [],
  user_type: 'user',
  expires_at: null,
  last_used_at: null,
  status: connection.status,
  created_at: connection.created_at,
  updated_at: connection.updated_at,
});

/** Older paths of connections and links; the same records. */
export const olderIntegrationRoutes = [
  route({
    method: 'POST',
    path: '/entity-integration-mappings',
    summary: 'Link a record to its counterpart at a provider; use POST /integrations/link',
    permission: 'integration:write',
    body: LinkBody,
    status: 201,
    answer: IntegrationMapping,
    deprecated: true,
    handler: (call) => call.deps.pool.begin((tx) => linkEntity(tx, call.deps, call, call.body)),
  }),
  route({
    method: 'DELETE',
    path: '/entity-integration-mappings/{id}',
    summary: 'End a link; use DELETE /integrations/link',
    permission: 'integration:write',
    params: IdParams,
    status: 204,
    answer: null,
    deprecated: true,
    handler: (call) =>
      call.deps.pool.begin((tx) => endMapping(tx, call.deps, call, { id: call.params.id })),
  }),
  route({
    method: 'POST',
    path: '/secrets/integrations/create/{provider}',
    summary: 'Connect a provider; use POST /connections',
    permission: 'connection:write',
    params: ProviderParams,
    body: CreateIntegrationBody,
    status: 201,
    answer: IntegrationSecret,
    deprecated: true,
    async handler(call) {
      const { name, credentials, metadata } = call.body;
      const connection = await call.deps.pool.begin((tx) =>
        createConnection(tx, call.deps, call, {
          name,
          provider_type: call.params.provider,
          encrypted_secret_data: credentials,
          gateway_account_id: null,
          sync_config: null,
          metadata,
        }),
      );
      return secretOf(connection);
    },
  }),
  route({
    method: 'GET',
    path: '/secrets/integrations/linked',
    summary: 'List connected providers; use GET /connections',
    permission: 'connection:read',
    status: 200,
    answer: LinkedProviders,
    deprecated: true,
    async handler({ deps, scope }) {
      const connections = await publishedConnections(deps.pool, scope);
      return { providers: [...new Set(connections.map(({ provider_type }) => provider_type))] };
    },
  }),
  route({
    method: 'GET',
    path: '/secrets/integrations/by-provider/{provider}',
    summary: 'Get the connection to a provider; use GET /connections',
    permission: 'connection:read',
    params: ProviderParams,
    status: 200,
    answer: IntegrationSecret,
    deprecated: true,
    async handler({ deps, scope, params }) {
      const connection = await connectionTo(deps.pool, scope, params.provider);
      if (connection === null) throw notFound('Connection', params.provider);
      return secretOf(connection);
    },
  }),
];
