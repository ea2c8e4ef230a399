/** Body of a flat price of 10 USD a month, in advance, of the plan; `fields` go over it. */
export const fixedPriceBody = (plan: string, fields: object = {}) => ({
  entity_type: 'PLAN',
  entity_id: plan,
  type: 'FIXED',
  billing_model: 'FLAT_FEE',
  billing_period: 'MONTHLY',
  invoice_cadence: 'ADVANCE',
  currency: 'usd',
  amount: '10',
  ...fields,
});
