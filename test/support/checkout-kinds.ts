import type { TestApi } from './api.ts';
import { catalogOf } from './catalog.ts';

/** The `checkout` object that asks for the test gateway. */
export const checkout = { payment_provider: 'test' };
const TEST_CHECKOUT = checkout;

/** Something that is bought through a checkout session. */
export interface CheckoutKind {
  readonly name: string;
  /**
   * Asks for something that costs 30 usd and waits for its payment; `isPaid`: the payment comes before the answer.
   * Returns its session.
   */
  open(isPaid?: boolean): Promise<{ readonly session: any; readonly done: () => Promise<boolean> }>;
}

/** A customer and a plan with one fee. */
export async function planFor(api: TestApi, amount: string) {
  const catalog = catalogOf(api);
  const plan = await catalog.plan();
  const price = await catalog.fixed(plan, amount, { display_name: 'Seat' });
  return { catalog, plan, price, customer: await catalog.customer() };
}

/** Everything that can be bought through a checkout session, for 30 usd each. `checkout` asks for the gateway. */
export function checkoutKinds(
  current: () => TestApi,
  checkout: object = TEST_CHECKOUT,
): CheckoutKind[] {
  const api = new Proxy({} as TestApi, {
    get: (_, key) => Reflect.get(current(), key) as unknown,
  });
  const planOf = (amount: string) => planFor(api, amount);
  const invoiceOf = async ({ checkout_invoice_id: id }: any) =>
    (await api.get(`/v1/invoices/${id}`)).body;
  const runningSubscription = async () => {
    const { catalog, plan, price, customer } = await planOf('10');
    const subscription = await catalog.subscribe(customer, plan, {
      payment_behavior: 'default_active',
    });
    return { catalog, plan, price, customer, subscription };
  };
  const extra = async (subscription: { id: string }) => {
    const { body: addon } = await api.post('/v1/addons', {
      name: 'More',
      lookup_key: `more_${subscription.id}`,
      type: 'onetime',
    });
    await api.post('/v1/prices', {
      entity_type: 'ADDON',
      entity_id: addon.id,
      type: 'FIXED',
      amount: '30',
      currency: 'usd',
      billing_model: 'FLAT_FEE',
      billing_period: 'MONTHLY',
      billing_period_count: 1,
      invoice_cadence: 'ADVANCE',
      price_unit_type: 'FIAT',
    });
    return addon as { id: string };
  };
  return [
    {
      name: 'a new subscription',
      async open(isPaid = false) {
        const { catalog, plan, customer } = await planOf('30');
        const subscription = await catalog.subscribe(customer, plan, { checkout });
        expect(subscription.subscription_status).toBe(isPaid ? 'active' : 'draft');
        const read = async () => (await api.get(`/v1/subscriptions/${subscription.id}`)).body;
        return {
          session: subscription.checkout_session,
          done: async () => (await read()).subscription_status === 'active',
        };
      },
    },
    {
      name: 'a one-off invoice',
      async open(isPaid = false) {
        const customer = await catalogOf(api).customer();
        const { status, body } = await api.post('/v1/invoices', {
          invoice_type: 'ONE_OFF',
          customer_id: customer.id,
          currency: 'usd',
          line_items: [{ display_name: 'Work', amount: '30', quantity: '1' }],
          checkout,
        });
        expect(status).toBe(201);
        expect(body).toMatchObject({
          ...(isPaid
            ? { invoice_status: 'FINALIZED', invoice_number: expect.any(String) }
            : { invoice_status: 'DRAFT', invoice_number: null }),
          source_type: 'checkout',
          checkout_session: { payment_action: { url: expect.any(String) } },
        });
        return {
          session: body.checkout_session,
          done: async () =>
            typeof (await invoiceOf(body.checkout_session)).invoice_number === 'string',
        };
      },
    },
    {
      name: 'a top-up',
      async open(isPaid = false) {
        const customer = await catalogOf(api).customer();
        const { body: wallet } = await api.post('/v1/wallets', {
          customer_id: customer.id,
          currency: 'usd',
        });
        const { status, body } = await api.post(`/v1/wallets/${wallet.id}/top-up`, {
          credits_to_add: '30',
          bonus_credits_to_add: '3',
          transaction_reason: 'PURCHASED_CREDIT_INVOICED',
          checkout,
        });
        expect(status).toBe(200);
        expect(body.wallet_transaction.transaction_status).toBe(isPaid ? 'completed' : 'pending');
        if (!isPaid)
          expect((await api.post(`/v1/wallets/${wallet.id}/terminate`)).status).toBe(409);
        const read = async () => (await api.get(`/v1/wallets/${wallet.id}`)).body;
        return {
          session: body.checkout_session,
          done: async () => (await read()).credit_balance === '33',
        };
      },
    },
    {
      name: 'more seats',
      async open(isPaid = false) {
        const { subscription } = await runningSubscription();
        const [line] = subscription.line_items;
        const change = {
          type: 'quantity_change',
          quantity_change_params: { line_items: [{ id: line.id, quantity: '4' }] },
          checkout,
        };
        const path = `/v1/subscriptions/${subscription.id}/modify/execute`;
        const { status, body } = await api.post(path, change);
        expect(status).toBe(200);
        if (!isPaid) expect((await api.post(path, change)).status).toBe(409);
        const read = async () => (await api.get(`/v1/subscriptions/${subscription.id}`)).body;
        return {
          session: body.checkout_session,
          done: async () => (await read()).line_items.some((row: any) => row.quantity === '4'),
        };
      },
    },
    {
      name: 'an addon',
      async open(isPaid = false) {
        const { subscription } = await runningSubscription();
        const addon = await extra(subscription);
        const { status, body } = await api.post(
          `/v1/subscriptions/${subscription.id}/modify/execute`,
          {
            type: 'addon',
            addon_params: {
              action: 'add',
              add: { addon_id: addon.id, proration_behavior: 'create_prorations' },
            },
            checkout,
          },
        );
        expect([status, body.checkout_session?.action]).toEqual([200, 'add_addon']);
        const path = `/v1/subscriptions/${subscription.id}/addons/associations`;
        return {
          session: body.checkout_session,
          done: async () => (await api.get(path)).body.items.length === 1,
        };
      },
    },
    {
      name: 'an addon, attached',
      async open(isPaid = false) {
        const { subscription } = await runningSubscription();
        const addon = await extra(subscription);
        const path = `/v1/subscriptions/${subscription.id}/addons/associations`;
        const request = {
          subscription_id: subscription.id,
          addon_id: addon.id,
          proration_behavior: 'create_prorations',
        };
        const { status, body } = await api.post('/v1/subscriptions/addon', {
          ...request,
          checkout,
        });
        expect([status, body.checkout_session?.action]).toEqual([200, 'add_addon']);
        const addon_status = isPaid ? 'active' : 'pending';
        expect(body).toMatchObject({ addon_status, addon_id: addon.id });
        expect((await api.get(path)).body.items).toHaveLength(isPaid ? 1 : 0);
        // The amount of the session is computed from the lines as they are.
        for (const more of isPaid ? [] : [{}, { checkout }]) {
          const second = await api.post('/v1/subscriptions/addon', { ...request, ...more });
          expect(second.status).toBe(409);
        }
        return {
          session: body.checkout_session,
          done: async () => (await api.get(path)).body.items[0]?.id === body.id,
        };
      },
    },
    {
      name: 'a plan change',
      async open(isPaid = false) {
        const { subscription } = await runningSubscription();
        const { plan } = await planOf('40');
        const { status, body } = await api.post(
          `/v1/subscriptions/${subscription.id}/change/v2/execute`,
          { target_plan_id: plan.id, proration_behavior: 'create_prorations', checkout },
        );
        expect(status).toBe(200);
        const read = async () => (await api.get(`/v1/subscriptions/${subscription.id}`)).body;
        return {
          session: body.checkout_session,
          done: async () => (await read()).plan_id === plan.id,
        };
      },
    },
  ];
}
