import type { Transaction } from '../client.ts';
import { ENDPOINT_DISABLED_EMAIL } from './email-queue.ts';

/** Health of endpoints after attempts: a success ends a time of failures, a first failure begins one. */
export async function noteEndpointHealth(
  tx: Transaction,
  endpoints: readonly { readonly id: string; readonly isHealthy: boolean }[],
  at: string,
): Promise<void> {
  const healthy = endpoints.filter(({ isHealthy }) => isHealthy).map(({ id }) => id);
  const failing = endpoints.filter(({ isHealthy }) => !isHealthy).map(({ id }) => id);
  await tx`
    update webhook_endpoints set failing_since = null
     where id = any(${healthy}::text[]) and failing_since is not null`;
  await tx`
    update webhook_endpoints set failing_since = ${at}
     where id = any(${failing}::text[]) and failing_since is null`;
}

/** Disables an endpoint automatically. Its pending deliveries wait until it is enabled again. */
export async function disableEndpoint(
  tx: Transaction,
  id: string,
  reason: string,
  at: string,
): Promise<boolean> {
  const changed = await tx`
    with disabled as (
      update webhook_endpoints
         set enabled = false, disabled_reason = ${reason}, updated_at = ${at}, updated_by = 'system'
       where id = ${id} and enabled
      returning id, tenant_id
    ), told as (
      insert into emails_outbox (id, kind, recipient, payload, due_at, created_at)
      select 'email_' || upper(replace(gen_random_uuid()::text, '-', '')), ${ENDPOINT_DISABLED_EMAIL}, u.email,
             jsonb_build_object('tenant_id', d.tenant_id, 'endpoint_id', d.id),
             ${at}::timestamptz, ${at}::timestamptz
        from disabled d
        join users u on u.tenant_id = d.tenant_id and u.type = 'user' and u.status = 'published'
                    and 'super_admin' = any(u.roles) and u.email <> ''
    )
    select 1 from disabled`;
  return changed.count > 0;
}
