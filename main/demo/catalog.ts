import type { ApiClient } from './api-client.ts';
import type { Recount } from './recount.ts';

export const EVENT_NAME = 'llm.request';

interface Created {
  readonly id: string;
}

export interface DemoCatalog {
  readonly planId: string;
  /** Meter id → the recounted quantity that a usage line on it must bill. */
  readonly expected: ReadonlyMap<string, keyof Recount>;
  readonly requestsMeterId: string;
}

/** Meters of type COUNT, SUM and MAX, and a plan with a price of each kind for them. */
export async function createCatalog(api: ApiClient, startDate: string): Promise<DemoCatalog> {
  const meter = async (name: string, aggregation: object): Promise<string> =>
    (
      await api.post<Created>('/meters', {
        name,
        event_name: EVENT_NAME,
        aggregation,
        filters: [],
        reset_usage: 'BILLING_PERIOD',
      })
    ).id;
  const requests = await meter('Requests', { type: 'COUNT' });
  const context = await meter('Context tokens', { type: 'SUM', field: 'context_tokens' });
  const generated = await meter('Generated tokens', { type: 'SUM', field: 'generated_tokens' });
  const peak = await meter('Largest context', { type: 'MAX', field: 'context_tokens' });

  const plan = await api.post<Created>('/plans', { name: 'Inference' });
  const price = (body: object): Promise<Created> =>
    api.post<Created>('/prices', {
      entity_type: 'PLAN',
      entity_id: plan.id,
      currency: 'usd',
      billing_period: 'MONTHLY',
      billing_period_count: 1,
      invoice_cadence: 'ARREAR',
      price_unit_type: 'FIAT',
      start_date: startDate,
      ...body,
    });
  const usage = (meter_id: string, body: object) => price({ type: 'USAGE', meter_id, ...body });
  await price({
    type: 'FIXED',
    billing_model: 'FLAT_FEE',
    amount: '49',
    display_name: 'Platform fee',
  });
  await usage(requests, {
    display_name: 'Requests, tiered',
    billing_model: 'TIERED',
    tier_mode: 'SLAB',
    tiers: [
      { up_to: 1_000, unit_amount: '0.01' },
      { up_to: 5_000, unit_amount: '0.008', flat_amount: '2' },
      { up_to: null, unit_amount: '0.005' },
    ],
  });
  await usage(context, {
    display_name: 'Context, per 100,000 tokens',
    billing_model: 'PACKAGE',
    amount: '0.30',
    transform_quantity: { divide_by: 100_000, round: 'up' },
  });
  await usage(generated, {
    display_name: 'Generated, per token',
    billing_model: 'FLAT_FEE',
    amount: '0.000015',
  });
  await usage(peak, {
    display_name: 'Peak context, per hour',
    billing_model: 'FLAT_FEE',
    amount: '0.0001',
    bucket_size: 'HOUR',
  });
  return {
    planId: plan.id,
    requestsMeterId: requests,
    expected: new Map([
      [requests, 'requests'],
      [context, 'contextTokens'],
      [generated, 'generatedTokens'],
      [peak, 'hourlyPeaks'],
    ]),
  };
}
