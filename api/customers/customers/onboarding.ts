import { invalidField } from '../../../domain/errors.ts';
import type { Db, Scope } from '../../../postgres/client.ts';
import { readSetting } from '../../../postgres/tables/settings.ts';
import type { CreateCustomerBody } from '../../../schemas/customer.ts';

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
