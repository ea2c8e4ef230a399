import type { BillingWorld } from '../../support/billing-world.ts';
import type { Facts } from './invoice-facts.ts';

/** What only a record has that is stored: identity, times of writing, and the state of its payment. */
const OF_RECORDS = new Set([
  ...[
    'id',
    'version',
    'status',
    'created_at',
    'updated_at',
    'created_by',
    'updated_by',
    'metadata',
  ],
  ...['invoice_number', 'invoice_status', 'payment_status', 'idempotency_key', 'description'],
  ...['issue_date', 'finalized_at', 'paid_at', 'last_computed_at', 'applied_at', 'due_date'],
  ...['amount_paid', 'amount_remaining', 'billing_sequence', 'finalize_refusal', 'collection'],
  ...['customer', 'wallet_transaction', 'explanation', 'tax_rate', 'checkout_session'],
  ...['subscription', 'usage_snapshot', 'request_id'],
  ...['credit_note_number', 'schedule_id', 'is_manually_edited', 'credit_note_status'],
]);

/** Ids of what a change makes: a preview makes others. */
const ID_OF_NEW =
  /^(subscription_)?(invoice_|parent_)?line_item_id$|^(invoice|credit_note|tax_association|coupon_association)_id$/;

/** Every amount, quantity and time of an answer with its place in it, without what only stored records have. */
export function factsIn(answer: unknown, place = ''): Facts {
  if (Array.isArray(answer))
    return answer.flatMap((one, index) => factsIn(one, `${place}[${index}]`));
  if (answer === null || typeof answer !== 'object') return [`${place} ${JSON.stringify(answer)}`];
  return (
    Object.entries(answer)
      .filter(([key]) => !OF_RECORDS.has(key) && !ID_OF_NEW.test(key))
      // What a tax is of.
      .filter(([key, value]) => key !== 'entity_id' || !String(value).startsWith('inv_'))
      .flatMap(([key, value]) => factsIn(value, `${place}.${key}`))
  );
}

/** An answer to a request, or its refusal. */
export async function answerTo(world: BillingWorld, path: string, body: object) {
  const { status, body: answer } = await world.api.post(`/v1${path}`, body);
  return { isDone: status < 300, status, answer };
}
