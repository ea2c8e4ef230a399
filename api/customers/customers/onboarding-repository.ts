import { inScope, type Db, type Fragment, type Scope } from '../../../postgres/client.ts';

/** The actions of the setting (`''`), or those of one of its custom workflows. */
export interface Onboarding {
  readonly id: string;
  readonly workflow: string;
}

/**
 * A statement that notes the actions that the setting has now, to be done for the customer (tenancy 16.1). It writes
 * nothing if the setting has none.
 */
export function insertOnboarding(
  db: Db,
  customer: Scope & {
    readonly id: string;
    readonly created_at: string;
    readonly created_by: string;
  },
  { id, workflow }: Onboarding,
): Fragment {
  const { tenant_id, environment_id, created_at, created_by } = customer;
  const actions =
    workflow === '' ? db`value -> 'actions'` : db`value -> 'custom_workflows' -> ${workflow}::text`;
  return db`
    insert into customer_onboardings (id, tenant_id, environment_id, customer_id, actions, due_at, created_at, created_by)
    select ${id}, ${tenant_id}, ${environment_id}, ${customer.id}, ${actions}, ${created_at}, ${created_at}, ${created_by}
      from settings
     where ${inScope(db, customer)} and key = 'customer_onboarding'
       and jsonb_array_length(${actions}) > 0`;
}
