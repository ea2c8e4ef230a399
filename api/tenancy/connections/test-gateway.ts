import { invalidField } from '../../../domain/errors.ts';
import type { Db, Scope } from '../../../postgres/client.ts';
import type { BillingDeps } from '../../deps.ts';
import { findEnvironmentType } from '../environments/repository.ts';

/**
 * Refuses the test gateway in a production environment: its payments move no money, and an invoice would count as
 * paid. The operator may allow it for an installation that only shows the product.
 */
export async function assertTestGateway(
  db: Db,
  { settings }: Pick<BillingDeps, 'settings'>,
  scope: Scope,
): Promise<void> {
  if (settings.test_gateway_in_production === true) return;
  if ((await findEnvironmentType(db, scope)) === 'production')
    throw invalidField(
      'provider_type',
      'the test gateway is off in production environments; use a development environment',
    );
}
