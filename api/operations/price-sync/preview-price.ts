import { roundToCurrency } from '../../../domain/currency.ts';
import { invalidOperation } from '../../../domain/errors.ts';
import { decimal, decimalText, sum, type Decimal } from '../../../domain/money.ts';
import { chargeModel } from '../../../domain/pricing/price.ts';
import { rate } from '../../../domain/pricing/rate.ts';
import { isoTime } from '../../../platform/clock.ts';
import type { Scope, Transaction } from '../../../postgres/client.ts';
import type { UpdatePriceBody } from '../../../schemas/price.ts';
import type { PricePreview } from '../../../schemas/price-preview.ts';
import { withPrices, type BilledLine } from '../../billing/computing/billing-sources.ts';
import {
  lastRatedQuantities,
  linesOfPrice,
} from '../../billing/subscriptions/plan-price-sync-repository.ts';
import { followsPlan } from '../../billing/subscriptions/sync-plan-prices.ts';
import { assertPriceGroup } from '../../catalog/groups/repository.ts';
import { findPricesOfEntities, getPrice } from '../../catalog/prices/repository.ts';
import { planVersion } from '../../catalog/prices/update-price.ts';
import type { BillingDeps } from '../../deps.ts';
import { currencyByCode } from '../../tenancy/settings/custom-currencies.ts';

/** Lines that one preview compares. */
const LINES_MAX = 5_000;

/**
 * How many running subscriptions a new version of a plan's price concerns, and what they pay by the terms that they
 * have and by the new ones, with the function that rates invoices (billing 2.2, 2.8). Refuses what the update
 * refuses, and changes nothing.
 */
export async function previewPrice(
  tx: Transaction,
  deps: Pick<BillingDeps, 'clock'>,
  scope: Scope,
  id: string,
  body: UpdatePriceBody,
): Promise<PricePreview> {
  const at = isoTime(deps.clock.now());
  if (body.group_id) await assertPriceGroup(tx, scope, body.group_id);
  const price = await getPrice(tx, scope, id);
  if (price.entity_type !== 'PLAN')
    throw invalidOperation(`Price ${id} is not of a plan: subscriptions do not follow it.`);
  const version = await planVersion(tx, scope, price, body, at);
  const effective_from = version.kind === 'in_place' ? at : version.effective_from;
  const { entity_id: plan_id, parent_price_id, currency: code } = price;
  const currency = await currencyByCode(tx, scope, code);
  const rows = await linesOfPrice(
    tx, scope, { plan_id, parent_price_id }, effective_from, LINES_MAX + 1,
  ); // prettier-ignore
  const versions = await findPricesOfEntities(tx, scope, 'PLAN', [plan_id], null);
  const lines = (await withPrices(tx, scope, rows.slice(0, LINES_MAX))).filter((line) =>
    followsPlan(line, versions),
  );
  const quantities =
    price.type === 'FIXED'
      ? new Map(lines.map((line) => [line.id, line.quantity]))
      : await lastRatedQuantities(tx, scope, lines.map((line) => line.id)); // prettier-ignore
  const model = chargeModel(version.kind === 'in_place' ? price : version.terms);
  const costOf = (by: ReturnType<typeof chargeModel>, quantity: string): Decimal =>
    roundToCurrency(rate(by, decimal(quantity)).amount, currency);
  const compared = lines.flatMap((line) => {
    const quantity = quantities.get(line.id);
    return quantity === undefined
      ? []
      : [{ line, now: costOf(chargeModel(line.price), quantity), then: costOf(model, quantity) }];
  });
  const now = sum(compared.map((one) => one.now));
  const then = sum(compared.map((one) => one.then));
  const subscriptions = subscriptionsOf(lines).size;
  const comparedOnes = subscriptionsOf(compared.map(({ line }) => line)).size;
  return {
    price_id: id,
    currency: code,
    billing_period: price.billing_period,
    billing_period_count: price.billing_period_count,
    effective_from,
    subscriptions,
    compared: comparedOnes,
    not_compared: subscriptions - comparedOnes,
    is_complete: rows.length <= LINES_MAX,
    amount_now: decimalText(now),
    amount_then: decimalText(then),
    difference: decimalText(then.minus(now)),
  };
}

const subscriptionsOf = (lines: readonly BilledLine[]): ReadonlySet<string> =>
  new Set(lines.map(({ subscription_id }) => subscription_id));
