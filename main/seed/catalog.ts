import type { ApiClient } from '../demo/api-client.ts';
import type { PlanName } from './customers.ts';
import { CHAT_EVENT, IMAGE_EVENT } from './usage.ts';

interface Created {
  readonly id: string;
}

export interface SeedCatalog {
  readonly plans: Readonly<Record<PlanName, string>>;
  readonly meters: {
    readonly input_tokens: string;
    readonly output_tokens: string;
    readonly images: string;
  };
}

/** Price per image by tier: SLAB, VOLUME and flat prices show what each does to an invoice. */
const IMAGES: Readonly<Record<PlanName, object>> = {
  Starter: { billing_model: 'FLAT_FEE', amount: '0.04' },
  Team: {
    billing_model: 'TIERED',
    tier_mode: 'SLAB',
    tiers: [
      { up_to: 500, unit_amount: '0.035' },
      { up_to: null, unit_amount: '0.03' },
    ],
  },
  Enterprise: {
    billing_model: 'TIERED',
    tier_mode: 'VOLUME',
    tiers: [
      { up_to: 2_000, unit_amount: '0.03' },
      { up_to: 10_000, unit_amount: '0.025' },
      { up_to: null, unit_amount: '0.02' },
    ],
  },
};
const FEES: Readonly<Record<PlanName, string>> = {
  Starter: '29',
  Team: '199',
  Enterprise: '1990',
};
/** Money for 1,000 tokens, input and output. */
const TOKENS: Readonly<Record<PlanName, readonly [string, string]>> = {
  Starter: ['0.0030', '0.0150'],
  Team: ['0.0027', '0.0135'],
  Enterprise: ['0.0022', '0.0110'],
};

/** Meters and plans of a company that sells language models. A lookup key refuses a second run at once. */
export async function createCatalog(api: ApiClient, startDate: string): Promise<SeedCatalog> {
  const plans = {} as Record<PlanName, string>;
  for (const name of Object.keys(FEES) as PlanName[]) {
    const lookup_key = `ai-saas-${name.toLowerCase()}`;
    plans[name] = (await api.post<Created>('/plans', { name, lookup_key })).id;
  }
  const meter = async (name: string, event_name: string, aggregation: object): Promise<string> => {
    const sent = { name, event_name, aggregation, filters: [], reset_usage: 'BILLING_PERIOD' };
    return (await api.post<Created>('/meters', sent)).id;
  };
  const meters = {
    input_tokens: await meter('Input tokens', CHAT_EVENT, { type: 'SUM', field: 'input_tokens' }),
    output_tokens: await meter('Output tokens', CHAT_EVENT, {
      type: 'SUM',
      field: 'output_tokens',
    }),
    images: await meter('Images', IMAGE_EVENT, { type: 'COUNT' }),
  };
  for (const name of Object.keys(FEES) as PlanName[]) {
    const price = (body: object): Promise<Created> =>
      api.post<Created>('/prices', {
        entity_type: 'PLAN',
        entity_id: plans[name],
        currency: 'usd',
        billing_period: 'MONTHLY',
        billing_period_count: 1,
        price_unit_type: 'FIAT',
        start_date: startDate,
        ...body,
      });
    const tokens = (meter_id: string, display_name: string, amount: string) =>
      price({
        type: 'USAGE',
        invoice_cadence: 'ARREAR',
        meter_id,
        display_name,
        billing_model: 'PACKAGE',
        amount,
        transform_quantity: { divide_by: 1_000, round: 'up' },
      });
    await price({
      type: 'FIXED',
      invoice_cadence: 'ADVANCE',
      billing_model: 'FLAT_FEE',
      amount: FEES[name],
      display_name: `${name} plan`,
    });
    await tokens(meters.input_tokens, 'Input tokens, per 1,000', TOKENS[name][0]);
    await tokens(meters.output_tokens, 'Output tokens, per 1,000', TOKENS[name][1]);
    await price({
      type: 'USAGE',
      invoice_cadence: 'ARREAR',
      meter_id: meters.images,
      display_name: 'Images',
      ...IMAGES[name],
    });
  }
  return { plans, meters };
}
