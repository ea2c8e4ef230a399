/** Requests that read: what they name is a filter or the subject of an answer (see the test of isolation). */
export const READING =
  /^GET |\/search$|analytics|\/revenue-dashboard$|^POST \/events\/(usage|query|raw|huggingface)|^POST \/meters(\/\{id\})?\/test|^POST \/meter-usage\/query/;

/** Names of fields with a record in them, besides those that end in `_id` or `_ids` or have `_ids_` within. */
const NAMES =
  /^(coupons|tax_rates|coupon_code|tax_rate_code|price_unit|line_item_coupons|line_item_commitments|overrides)$/;

/** Fields with an id that names no record, or none of the caller: the end of the field, and why. */
export const NO_RECORDS: Readonly<Record<string, string>> = {
  'POST /coupons coupon_code': 'is the code of the new coupon',
  ' external_id': "is the customer's own",
  'contact_persons[].id': 'is an id that the caller gives to a person',
  'POST /customers integration_entity_mapping[].entity_id': 'must be absent: the customer is new',
  provider_entity_id: 'is an id of the connected provider',
  gateway_account_id: 'is an id of the gateway',
  gateway_method_id: 'is an id of the gateway',
  gateway_payment_id: 'is an id of the gateway',
  'POST /secrets/api/keys external_customer_id': 'events may come before their customer exists',
  'POST /checkout/pages/open session_id': 'is public: the secret of the link proves the right',
  'POST /checkout/pages/outcome session_id': 'is public: the secret of the link proves the right',
  'POST /events/corrections event_id': 'is an event (see the test of isolation)',
};

/**
 * Kinds whose foreign record is accepted, as `route field (kind)`, and why: the word of the gateway for a method may be
 * any text, and people and environments belong to the whole tenant.
 */
export const ANY_TEXT = /\/payments\S* payment_method_id \(paymentMethod\)$/;
export const TENANT_WIDE = /\((environment|emptyEnvironment|account)\)$/;

/**
 * Where a request about one customer may name another: whose subscription it is, who uses it, who pays, and on whose
 * invoice it is (billing 16).
 */
export const BETWEEN_CUSTOMERS =
  /subscriptions\S* (customer_id|external_customer_id|.*parent_subscription_id|.*subscriptions_ids_for_grouped_invoicing\[\]|.*child_subscription_ids\[\]) |\((member|inheriting)External\)$/;

/** Requests that no record makes acceptable: no provider takes records by itself yet. */
export const ALWAYS_REFUSED: ReadonlySet<string> = new Set(['POST /integrations/sync']);

/** `POST /prices/bulk items[].entity_id` */
export function isReference(field: string): boolean {
  if (Object.keys(NO_RECORDS).some((end) => field.endsWith(end))) return false;
  const path = field.split(' ')[2]!;
  if (path.includes('metadata')) return false;
  const [name] = path
    .split('.')
    .map((part) => part.replace(/(\[\]|\{\})+$/, ''))
    .filter((part) => part !== '*')
    .slice(-1);
  return /^ids?$|_ids?$|_ids_/.test(name!) || NAMES.test(name!);
}
