import { invalidField } from '../../../domain/errors.ts';
import type { Transaction } from '../../../postgres/client.ts';
import { writeOutbox } from '../../../postgres/tables/outbox.ts';
import type { Customer, UpdateCustomerBody } from '../../../schemas/customer.ts';
import type { BillingDeps } from '../../deps.ts';
import { changed, sent, type Caller } from '../../conventions/record.ts';
import { assertKnownCurrency } from '../../tenancy/settings/custom-currencies.ts';
import { contactPersons } from './create-customer.ts';
import { assertOwnLinks, linkCustomer } from './link-customer.ts';
import { customerAnswer, lockCustomer, updateCustomerRow, type CustomerRow } from './repository.ts';

/** Changes a customer, named by id, by external id, or by both if they name the same customer. */
export async function updateCustomer(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  named: { readonly id?: string; readonly external_customer_id?: string },
  body: UpdateCustomerBody,
): Promise<Customer> {
  const { scope } = caller;
  const { id, external_customer_id } = named;
  if (!id && !external_customer_id)
    throw invalidField('id', 'give id or external_customer_id in the query');
  const customer = await lockCustomer(
    tx,
    scope,
    id ? { id } : { external_id: external_customer_id! },
  );
  if (id && external_customer_id && customer.external_id !== external_customer_id)
    throw invalidField('external_customer_id', 'names another customer than id');

  const {
    contact_persons, timezone, customer_timezone, billing_currency, tax_treatment,
    integration_entity_mapping, ...rest
  } = body; // prettier-ignore
  if (billing_currency) await assertKnownCurrency(tx, scope, billing_currency, 'billing_currency');
  const links = integration_entity_mapping ?? [];
  assertOwnLinks(customer.id, links);
  await linkCustomer(tx, deps, caller, customer.id, links);
  const isZoneSent = timezone !== undefined || customer_timezone !== undefined;
  const row = await updateCustomerRow(tx, scope, customer.id, {
    ...sent(rest),
    ...renamed(customer, body),
    ...(contact_persons === undefined
      ? {}
      : { contact_persons: contactPersons(deps, contact_persons ?? []) }),
    ...(isZoneSent ? { timezone: timezone || customer_timezone || 'UTC' } : {}),
    ...(billing_currency === undefined ? {} : { billing_currency: billing_currency || null }),
    ...(tax_treatment === undefined ? {} : { tax_treatment: tax_treatment || 'taxable' }),
    ...changed(deps, caller),
  });
  const answer = customerAnswer(row);
  await writeOutbox(tx, scope, 'customer.updated', { customer: answer });
  return answer;
}

/** Maximum length of the former external ids in metadata; the newest stands last. */
const OLD_IDS_LENGTH_MAX = 10_000;

/** Keeps the replaced external id in the metadata (as the reference answers). */
function renamed(customer: CustomerRow, body: UpdateCustomerBody): Partial<CustomerRow> {
  if (body.external_id === undefined || body.external_id === customer.external_id) return {};
  const metadata = body.metadata ?? customer.metadata;
  const known = metadata['old_external_ids'] ?? customer.metadata['old_external_ids'];
  const ids = [...(known ? known.split(',') : []), customer.external_id];
  while (ids.join(',').length > OLD_IDS_LENGTH_MAX) ids.shift();
  return { metadata: { ...metadata, old_external_ids: ids.join(',') } };
}
