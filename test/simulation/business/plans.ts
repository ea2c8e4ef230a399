/** Money in cents. The terms are written twice: as the API takes them, and as a person would compute them. */
export interface PlanTerms {
  readonly name: string;
  /** Monthly, in advance; 0 has no fee. */
  readonly fee: number;
  readonly price: object;
  /** Cents for the units of a period. */
  readonly charge: (units: number) => number;
  /** Credits granted each month that live for 40 days; 0 grants none. */
  readonly credits: number;
}

export const PLANS: readonly PlanTerms[] = [
  {
    name: 'Flat',
    fee: 2_000,
    price: { amount: '0.02' },
    charge: (units) => units * 2,
    credits: 0,
  },
  {
    name: 'Slab',
    fee: 4_999,
    price: {
      billing_model: 'TIERED',
      tier_mode: 'SLAB',
      tiers: [
        { up_to: 100, unit_amount: '1' },
        { up_to: 500, unit_amount: '0.5' },
        { up_to: null, unit_amount: '0.1' },
      ],
    },
    charge(units) {
      let cents = 0;
      for (let unit = 1; unit <= units; unit += 1)
        cents += unit <= 100 ? 100 : unit <= 500 ? 50 : 10;
      return cents;
    },
    credits: 0,
  },
  {
    name: 'Package',
    fee: 0,
    price: {
      billing_model: 'PACKAGE',
      amount: '5',
      transform_quantity: { divide_by: 10, round: 'up' },
    },
    charge: (units) => Math.ceil(units / 10) * 500,
    credits: 0,
  },
  {
    name: 'Volume',
    fee: 10_000,
    price: {
      billing_model: 'TIERED',
      tier_mode: 'VOLUME',
      tiers: [
        { up_to: 50, unit_amount: '2' },
        { up_to: 200, unit_amount: '1.5' },
        { up_to: null, unit_amount: '1' },
      ],
    },
    charge: (units) => units * (units <= 50 ? 200 : units <= 200 ? 150 : 100),
    credits: 25,
  },
];
