import type { BillingWorld } from '../../support/billing-world.ts';
import type { Random } from '../../support/random.ts';
import type { Contract } from './contract.ts';
import { ok } from './sell-offer.ts';
import type { Signed } from './sign-contract.ts';

/** What changes can be made of: coupons, tax rates, and customers that may use the subscription. */
export interface Offers extends Signed {
  readonly coupons: readonly { readonly id: string; readonly coupon_code: string }[];
  readonly rates: readonly { readonly id: string; readonly code: string }[];
}

/** Coupons of every kind and two tax rates; some of the coupons are in the request for the subscription. */
export async function soldMore(
  world: BillingWorld,
  random: Random,
  contract: Contract,
  name: string,
) {
  const currency = contract.currency === 'crx' ? 'usd' : contract.currency;
  const coupons: any[] = [];
  for (let index = 0; index < 4; index += 1) {
    const cadence = random.pick(['once', 'repeated', 'forever'] as const);
    coupons.push(
      await ok(world, '/coupons', {
        ...{ name: `Coupon ${index}`, coupon_code: `p${name}-${index}`, cadence },
        ...(cadence === 'repeated' ? { duration_in_periods: 1 + random.below(3) } : {}),
        ...(random.chance(0.5) && contract.currency !== 'crx'
          ? { type: 'fixed', amount_off: String(1 + random.below(60)), currency }
          : { type: 'percentage', percentage_off: String(1 + random.below(70)) }),
      }),
    );
  }
  const rates: any[] = [];
  for (const [index, percentage_value] of ['6.5', '13'].entries()) {
    const code = `p${name}-tax-${index}`;
    rates.push(
      await ok(world, '/taxes/rates', {
        ...{ name: code, code, tax_rate_type: 'percentage', percentage_value },
      }),
    );
  }
  const first = coupons.filter(() => random.chance(0.3)).map(({ id }) => id);
  return { coupons, rates, request: first.length === 0 ? {} : { coupons: first } };
}

/** All that a change can be made of. */
export async function offersOf(
  world: BillingWorld,
  contract: Contract,
  signed: Signed,
  { coupons, rates }: Pick<Offers, 'coupons' | 'rates'>,
  name: string,
): Promise<Offers> {
  if (contract.isDelegated) return { ...signed, coupons, rates };
  const more = await world.catalog.customer({ external_id: `${name}-more` });
  return { ...signed, others: [...signed.others, more], coupons, rates };
}
