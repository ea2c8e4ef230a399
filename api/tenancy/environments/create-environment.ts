import { BillingError, invalidField } from '../../../domain/errors.ts';
import type { Identity } from '../../../platform/identity/identity.ts';
import type { Transaction } from '../../../postgres/client.ts';
import type { Environment } from '../../../schemas/environment.ts';
import type { BillingDeps } from '../../deps.ts';
import { newRecord, type Caller } from '../../conventions/record.ts';
import { tenantLimits } from '../tenants/limits.ts';
import { countEnvironments, insertEnvironment } from './repository.ts';

/** A person, or a person's key. */
export type HumanCaller = Caller & { readonly identity: Identity };

/**
 * Creates an environment. The setting `tenant_config` limits the number of each type. A caller restricted to
 * some environments cannot create one, and a development key cannot create a production one.
 */
export async function createEnvironment(
  tx: Transaction,
  deps: BillingDeps,
  caller: HumanCaller,
  body: Pick<Environment, 'name' | 'type'>,
): Promise<Environment> {
  const { tenant_id } = caller.scope;
  const { environment_ids, environment_type } = caller.identity;
  if (environment_ids !== null)
    throw new BillingError(
      'forbidden',
      'permission_denied',
      'Only a person with access to all environments of the tenant may create environments.',
    );
  if (environment_type === 'development' && body.type !== 'development')
    throw invalidField(
      'type',
      'a key of a development environment can create development environments only',
    );
  const limits = await tenantLimits(tx, tenant_id, deps.settings);
  const limit = limits[body.type];
  if ((await countEnvironments(tx, tenant_id, body.type)) >= limit)
    throw invalidField('type', `the tenant may have ${limit} ${body.type} environments`);
  const { id, created_at, updated_at, created_by, updated_by } = newRecord(deps, caller, 'env');
  const environment = { id, ...body, created_at, updated_at };
  await insertEnvironment(tx, { ...environment, tenant_id, created_by, updated_by });
  return environment;
}
