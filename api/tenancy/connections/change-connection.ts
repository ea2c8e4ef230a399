import { invalidField } from '../../../domain/errors.ts';
import type { SecretBox } from '../../../platform/secret-box.ts';
import type { Transaction } from '../../../postgres/client.ts';
import type {
  Connection,
  CreateConnectionBody,
  UpdateConnectionBody,
} from '../../../schemas/connection.ts';
import type { BillingDeps } from '../../deps.ts';
import { changed, newRecord, sent, type Caller } from '../../conventions/record.ts';
import { isAdapted } from './adapted-providers.ts';
import { assertTestGateway } from './test-gateway.ts';
import {
  archiveExportsOf,
  insertConnection,
  lockConnection,
  SECRET_COLUMN,
  updateConnectionRow,
} from './repository.ts';
import { mergeSyncConfig, SYNC_NOTHING } from './sync-config.ts';

type ConnectionDeps = Pick<BillingDeps, 'ids' | 'clock' | 'secretBox' | 'settings'>;
type Secrets = CreateConnectionBody['encrypted_secret_data'];

/**
 * Connects the environment to a provider. The credentials are encrypted before they are written (tenancy S24).
 */
export async function createConnection(
  tx: Transaction,
  deps: ConnectionDeps,
  caller: Caller,
  body: CreateConnectionBody,
): Promise<Connection> {
  refuseForeignStorage(body.provider_type, body.sync_config);
  if (body.provider_type === 'test') await assertTestGateway(tx, deps, caller.scope);
  return await insertConnection(tx, {
    ...newRecord(deps, caller, 'conn'),
    name: body.name,
    provider_type: body.provider_type,
    secret_data: sealed(deps.secretBox, caller, body.encrypted_secret_data),
    takes_payments: takesPayments(body.provider_type, body.encrypted_secret_data),
    gateway_account_id: body.gateway_account_id ?? null,
    sync_config: mergeSyncConfig(SYNC_NOTHING, body.sync_config ?? undefined),
    metadata: body.metadata ?? {},
  });
}

export async function updateConnection(
  tx: Transaction,
  deps: ConnectionDeps,
  caller: Caller,
  id: string,
  body: UpdateConnectionBody,
): Promise<Connection> {
  const { encrypted_secret_data: secrets, sync_config, ...rest } = body;
  const connection = await lockConnection(tx, caller.scope, id);
  refuseForeignStorage(connection.provider_type, sync_config);
  return await updateConnectionRow(tx, caller.scope, id, {
    ...sent(rest),
    ...(secrets === undefined
      ? {}
      : {
          secret_data: sealed(deps.secretBox, caller, secrets),
          takes_payments: takesPayments(connection.provider_type, secrets),
        }),
    sync_config: mergeSyncConfig(connection.sync_config, sync_config),
    ...changed(deps, caller),
  });
}

/**
 * Deletes a connection and, permanently, its credentials. Exports through the connection are deleted with it.
 */
export async function deleteConnection(
  tx: Transaction,
  deps: Pick<BillingDeps, 'clock'>,
  caller: Caller,
  id: string,
): Promise<void> {
  const change = changed(deps, caller);
  await updateConnectionRow(tx, caller.scope, id, {
    status: 'deleted',
    secret_data: null,
    ...change,
  });
  await archiveExportsOf(tx, caller.scope, id, change);
}

/** Exports go over connections to storage only. */
function refuseForeignStorage(
  provider: Connection['provider_type'],
  sync_config: CreateConnectionBody['sync_config'],
): void {
  if (provider !== 's3' && sync_config?.s3 != null)
    throw invalidField('sync_config.s3', `a connection to ${provider} exports nothing`);
}

/** Without its secret key a connection to Stripe only links records (money 19.6). */
function takesPayments(provider: Connection['provider_type'], secrets: Secrets): boolean {
  if (provider !== 'stripe') return isAdapted(provider);
  return secrets?.['secret_key'] !== undefined;
}

function sealed(secretBox: SecretBox, { scope }: Caller, secrets: Secrets): string | null {
  if (secrets == null || Object.keys(secrets).length === 0) return null;
  const place = { tenant_id: scope.tenant_id, column: SECRET_COLUMN };
  return secretBox.seal(JSON.stringify(secrets), place);
}
