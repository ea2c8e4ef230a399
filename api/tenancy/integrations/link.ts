import type { Transaction } from '../../../postgres/client.ts';
import type { IntegrationMapping } from '../../../schemas/customer.ts';
import type { LinkBody } from '../../../schemas/integration.ts';
import { connectionTo } from '../connections/repository.ts';
import type { BillingDeps } from '../../deps.ts';
import { newRecord, type Caller } from '../../conventions/record.ts';
import { assertLinkedEntity, notConnected } from './linked-entity.ts';
import { insertMapping, mappingsOf } from './repository.ts';

/**
 * Links a record to a provider's record (money 19.9). Repeating the same link changes nothing; 409
 * if either record already has another link at the provider.
 */
export async function linkEntity(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  body: LinkBody,
): Promise<IntegrationMapping> {
  const { scope } = caller;
  const { entity_type, entity_id, provider_type, provider_entity_id } = body;
  if ((await connectionTo(tx, scope, provider_type)) === null) throw notConnected(provider_type);
  await assertLinkedEntity(tx, scope, entity_type, entity_id);
  const known = (await mappingsOf(tx, scope, entity_type, [entity_id])).find(
    (mapping) =>
      mapping.provider_type === provider_type && mapping.provider_entity_id === provider_entity_id,
  );
  if (known !== undefined) return known;
  return await insertMapping(tx, {
    ...newRecord(deps, caller, 'eim'),
    entity_type,
    entity_id,
    provider_type,
    provider_entity_id,
    metadata: body.metadata ?? {},
  });
}
