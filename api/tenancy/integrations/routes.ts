import { IntegrationMapping } from '../../../schemas/customer.ts';
import {
  IntegrationConfig,
  LinkBody,
  LinkedMapping,
  MappingQuery,
  SyncBody,
  UnlinkBody,
} from '../../../schemas/integration.ts';
import { Message } from '../../../schemas/primitives.ts';
import { pageOf } from '../../../schemas/search.ts';
import { publishedConnections } from '../connections/repository.ts';
import { SYNC_NOTHING } from '../connections/sync-config.ts';
import { route } from '../../conventions/route.ts';
import { linkEntity } from './link.ts';
import { assertLinkedEntity, refuseSync } from './linked-entity.ts';
import { olderIntegrationRoutes } from './older-routes.ts';
import { endMapping, pageOfMappings } from './repository.ts';

export const integrationRoutes = [
  route({
    method: 'GET',
    path: '/integrations/config',
    summary: 'List what each connection syncs',
    permission: 'integration:read',
    status: 200,
    answer: IntegrationConfig,
    async handler({ deps, scope }) {
      const connections = await publishedConnections(deps.pool, scope);
      return {
        integrations: connections.map(({ provider_type, sync_config }) => ({
          provider: provider_type,
          base_config: SYNC_NOTHING,
          current_config: sync_config,
        })),
      };
    },
  }),
  route({
    method: 'POST',
    path: '/integrations/link',
    summary: 'Link a record to its counterpart at a connected provider',
    permission: 'integration:write',
    body: LinkBody,
    status: 200,
    answer: LinkedMapping,
    handler: (call) =>
      call.deps.pool.begin(async (tx) => ({
        mapping: await linkEntity(tx, call.deps, call, call.body),
      })),
  }),
  route({
    method: 'DELETE',
    path: '/integrations/link',
    summary: 'End the link of a record to a provider',
    permission: 'integration:write',
    body: UnlinkBody,
    status: 200,
    answer: Message,
    async handler(call) {
      await call.deps.pool.begin((tx) => endMapping(tx, call.deps, call, call.body));
      return { message: 'Link deleted successfully' };
    },
  }),
  route({
    method: 'GET',
    path: '/integrations/mappings',
    summary: 'List the links of a record to connected providers',
    permission: 'integration:read',
    query: MappingQuery,
    status: 200,
    answer: pageOf(IntegrationMapping),
    handler: ({ deps, scope, query }) =>
      pageOfMappings(deps.pool, scope, query.entity_type, query.entity_id, query),
  }),
  route({
    method: 'POST',
    path: '/integrations/sync',
    summary: 'Sync a record with the connections that support its type; refused if there is none',
    permission: 'integration:write',
    body: SyncBody,
    status: 200,
    answer: Message,
    async handler({ deps, scope, body }) {
      await assertLinkedEntity(deps.pool, scope, body.entity_type, body.entity_id);
      return await refuseSync(deps.pool, scope, body);
    },
  }),
  ...olderIntegrationRoutes,
];
