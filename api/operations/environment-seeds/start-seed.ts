import { BillingError } from '../../../domain/errors.ts';
import { isoTime } from '../../../platform/clock.ts';
import type { Transaction } from '../../../postgres/client.ts';
import type { EnvironmentSeed, SeedEnvironmentBody } from '../../../schemas/environment-seed.ts';
import type { BillingDeps, SeedStart } from '../../deps.ts';
import { createApiKey, type KeyCaller } from '../../tenancy/api-keys/create-api-key.ts';
import { getEnvironment } from '../../tenancy/environments/repository.ts';
import { insertSeed, isEmpty, lockSeed, readSeed } from './repository.ts';

/** Longer than the generator works. */
const KEY_MS = 2 * 3_600_000;

export interface StartedSeed {
  readonly answer: EnvironmentSeed;
  /** Null if it runs or has ended already. */
  readonly start: SeedStart | null;
}

/**
 * Prepares that an environment is filled with generated data: notes it, and makes a key for the generator with
 * the caller's rights. A second call answers how far the first one is. 400 for production, 409 for an environment
 * with plans, customers or meters.
 */
export async function startSeed(
  tx: Transaction,
  deps: BillingDeps,
  caller: KeyCaller,
  environmentId: string,
  body: SeedEnvironmentBody,
): Promise<StartedSeed> {
  const environment = await getEnvironment(tx, caller, environmentId);
  if (environment.type === 'production')
    throw new BillingError(
      'invalid',
      'not_in_production',
      'Generated data is for environments that are not of type production.',
    );
  const scope = { tenant_id: caller.scope.tenant_id, environment_id: environmentId };
  await lockSeed(tx, scope);
  const now = deps.clock.now();
  const known = await readSeed(tx, scope, now);
  if (known.state === 'running' || known.state === 'completed')
    return { answer: known, start: null };
  if (!(await isEmpty(tx, scope)))
    throw new BillingError(
      'conflict',
      'environment_not_empty',
      'The environment has plans, customers or meters; generated data fills an empty one only. ' +
        'Create another environment (POST /v1/environments).',
    );
  const { api_key, secret } = await createApiKey(
    tx,
    deps,
    { ...caller, scope },
    {
      name: 'Generated data',
      type: 'private_key',
      expires_at: isoTime(now + KEY_MS),
      service_account_id: null,
      external_customer_id: null,
    },
  );
  await insertSeed(tx, scope, body, { user_id: caller.user_id, at: isoTime(now) });
  const start = { scope, user_id: caller.user_id, api_key, key_id: secret.id, ...body };
  return { answer: await readSeed(tx, scope, now), start };
}
