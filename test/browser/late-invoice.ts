import type { PipelineWorld } from '../support/pipeline-world.ts';

/** A final invoice of the calendar month before the present one, for which usage came and went later. */
export interface LateInvoice {
  readonly id: string;
  readonly invoice_number: string;
  readonly customer_id: string;
}

interface LateUsage {
  /** External id of the customer, and the names of the meters: `<name> tokens`, `<name> images`. */
  readonly name: string;
  /** Tokens at 0.5 that arrive when the invoice is final. 100 were in time. */
  readonly more?: number;
  /** 40 images at 0.25 were in time; they are withdrawn when the invoice is final. */
  readonly isLess?: boolean;
  /** Days after the invoice is final. Default: the terms of the customer. */
  readonly due_date?: string;
}

const DAY_MS = 86_400_000;

/** Bills 50.00 of tokens and 10.00 of images, then lets the usage change. */
export async function lateInvoice(
  world: PipelineWorld,
  { name, more = 0, isLess = false, due_date }: LateUsage,
): Promise<LateInvoice> {
  const { api, catalog } = world;
  const { start, end } = monthBefore(api.clock.now());
  const at = new Date(Date.parse(start) + DAY_MS).toISOString();
  const event = (event_id: string, kind: string, v: number) => ({
    event_id: `${name}-${event_id}`, event_name: `${name}_${kind}`, external_customer_id: name,
    timestamp: at, source: 'test', properties: { v },
  }); // prettier-ignore
  const customer = await catalog.customer({ external_id: name, name: `${name} Ltd` });
  const plan = await catalog.plan(`${name} plan`);
  for (const [kind, amount] of [
    ['tokens', '0.5'],
    ['images', '0.25'],
  ] as const) {
    const terms = { name: `${name} ${kind}`, event_name: `${name}_${kind}` };
    const meter = await catalog.meter({ type: 'SUM', field: 'v' }, terms);
    await catalog.usage(plan, meter, { amount, display_name: `${name} ${kind}` });
  }
  const subscription = await catalog.subscribe(customer, plan, { start_date: start });
  await world.send([event('in-time', 'tokens', 100), event('withdrawn', 'images', 40)]);
  await world.settled();
  const { id } = await api.postOk('/v1/invoices', {
    invoice_type: 'SUBSCRIPTION',
    customer_id: customer.id,
    subscription_id: subscription.id,
    currency: 'usd',
    period_start: start,
    period_end: end,
    ...(due_date === undefined ? {} : { due_date }),
  });
  await api.postOk(`/v1/invoices/${id}/finalize`, {});
  if (more > 0) await world.send([event('late', 'tokens', more)]);
  if (isLess)
    await api.postOk('/v1/events/corrections', {
      event_id: `${name}-withdrawn`,
      reason: 'sent by mistake',
    });
  await world.settled();
  return (await api.get(`/v1/invoices/${id}`)).body;
}

/** The calendar month before the one of the instant, UTC. */
function monthBefore(nowMs: number): { readonly start: string; readonly end: string } {
  const end = `${new Date(nowMs).toISOString().slice(0, 7)}-01T00:00:00.000Z`;
  const start = `${new Date(Date.parse(end) - 1).toISOString().slice(0, 7)}-01T00:00:00.000Z`;
  return { start, end };
}
