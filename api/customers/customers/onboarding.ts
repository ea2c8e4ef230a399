import { invalidField } from '../../../domain/errors.ts';
import { inScope, type Db, type Fragment, type Scope } from '../../../postgres/client.ts';
import { readSetting } from '../../../postgres/tables/settings.ts';
import type { CreateCustomerBody } from '../../../schemas/customer.ts';

/** The actions of the setting (`''`), or those of one of its custom workflows. */
export interface Onboarding {
  readonly id: string;
  readonly workflow: string;
}

/** The workflow that a new customer has; null: none. 400 if the request names one that the setting lacks. */
export async function workflowOf(
  db: Db,
  scope: Scope,
  body: Pick<CreateCustomerBody, 'skip_onboarding_workflow' | 'onboarding_workflow_name'>,
): Promise<string | null> {
  const { skip_onboarding_workflow: isSkipped, onboarding_workflow_name: name } = body;
  if (!name) return isSkipped === true ? null : '';
  if (isSkipped === true)
    throw invalidField('onboarding_workflow_name', 'contradicts skip_onboarding_workflow');
  const { custom_workflows = {} } = await readSetting(db, scope, 'customer_onboarding');
  if (Object.hasOwn(custom_workflows, name)) return name;
  throw invalidField(
    'onboarding_workflow_name',
    'is not one of custom_workflows of the setting customer_onboarding',
  );
}

/**
 * Notes the actions that the setting has now, to be done for the customer (tenancy 16.1). Writes nothing if the setting
 * has none.
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
