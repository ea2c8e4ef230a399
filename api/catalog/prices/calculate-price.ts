import { roundToCurrency } from '../../../domain/currency.ts';
import { invalidField } from '../../../domain/errors.ts';
import { decimal, decimalText } from '../../../domain/money.ts';
import { currencyCode, explainModel, explainRating } from '../../../domain/pricing/explain.ts';
import { chargeModel, type ChargeModel } from '../../../domain/pricing/price.ts';
import { rate } from '../../../domain/pricing/rate.ts';
import type { Scope, Transaction } from '../../../postgres/client.ts';
import type { CreatePriceBody } from '../../../schemas/price.ts';
import type { CalculatePriceBody, PriceCalculation } from '../../../schemas/price-calculation.ts';
import { assertKnownCurrency, currencyByCode } from '../../tenancy/settings/custom-currencies.ts';
import { below } from '../../conventions/bulk-error.ts';
import { getReferences, priceTerms, shareOwner } from './create-prices.ts';
import { getPrice } from './repository.ts';

type UnsavedPrice = NonNullable<CalculatePriceBody['price']>;

/**
 * The cost of quantities, by the function that rates invoices (billing 2.2). An unsaved price is refused for
 * the same reasons as when it is created.
 */
export async function calculatePrice(
  tx: Transaction,
  scope: Scope,
  { price_id, price, quantities }: CalculatePriceBody,
): Promise<PriceCalculation> {
  const stored = price_id == null ? null : await getPrice(tx, scope, price_id);
  const currency = await currencyByCode(tx, scope, (stored ?? price!).currency);
  const model =
    stored === null ? await unsavedModel(tx, scope, price!, currency) : chargeModel(stored);
  return {
    price_id: stored?.id ?? null,
    currency: currencyCode(currency),
    model: explainModel(model),
    items: quantities.map((quantity) => {
      const rating = rate(model, decimal(quantity));
      const { packages, tiers, amount, quantity: rated } = explainRating(rating);
      const total = decimalText(roundToCurrency(rating.amount, currency));
      return { quantity: rated, amount, total, packages, tiers };
    }),
  };
}

async function unsavedModel(
  tx: Transaction,
  scope: Scope,
  price: UnsavedPrice,
  currency: Awaited<ReturnType<typeof currencyByCode>>,
): Promise<ChargeModel> {
  try {
    const { unit } = await getReferences(tx, scope, price, price.group_id ?? null);
    await assertKnownCurrency(tx, scope, price.currency);
    if (price.entity_id) await shareOwner(tx, scope, ownerOf(price, price.entity_id));
    return chargeModel(priceTerms(price, unit, currency));
  } catch (error) {
    throw below(error, 'price');
  }
}

function ownerOf(
  { entity_type }: UnsavedPrice,
  entity_id: string,
): Pick<CreatePriceBody, 'entity_type' | 'entity_id'> {
  if (!entity_type) throw invalidField('entity_type', 'is required with entity_id');
  return { entity_type, entity_id };
}
