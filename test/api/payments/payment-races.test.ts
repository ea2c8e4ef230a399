import { collectInvoices } from '../../../jobs/collect-invoices.ts';
import { expireCheckouts } from '../../../jobs/expire-checkouts.ts';
import { reconcilePayments } from '../../../jobs/reconcile-payments.ts';
import { auditWallets } from '../../../api/billing/credits/audit-wallets.ts';
import { Decimal } from '../../../domain/money.ts';
import { startTestApi, type TestApi } from '../../support/api.ts';
import { catalogOf } from '../../support/catalog.ts';
import { checkout, checkoutKinds } from '../../support/checkout-kinds.ts';
import { jobRunAt, runAtNow } from '../../support/job-run.ts';
import { brokenMoney } from '../../support/money-identities.ts';

/**
 * Two actions on one payment, in both orders and at once. Whichever is first, every amount that arrived at the
 * gateway is in the books once, what was bought is given if and only if its money is kept, and the identities
 * of the ledger hold.
 */
let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
  await api.post('/v1/connections', { name: 'Test', provider_type: 'test' });
});
afterAll(() => api.close());

interface World {
  readonly customer_id: string;
  readonly invoice_id: string;
  /** The session, if there is one. */
  readonly session: any;
  /** The payment that an action is about: of the session, or the first one of the invoice. */
  readonly payment_id: string | null;
  /** Whether what was bought has been given; null where the invoice exists already. */
  readonly done: (() => Promise<boolean>) | null;
  readonly method_id: string | null;
}

type Answer = { readonly status: number; readonly body: any };
type Action = (world: World) => Promise<Answer | void>;

const kinds = checkoutKinds(() => api);
let keys = 0;
const nextKey = () => `race-${(keys += 1)}`;

const later = (milliseconds: number) => new Date(api.clock.now() + milliseconds).toISOString();
const outcome = ({ payment_id }: World, name: string) =>
  api.post(`/v1/test-gateway/payments/${payment_id}/outcome`, { outcome: name });
const pay = ({ invoice_id }: World, more: object) =>
  api.post('/v1/payments', {
    destination_type: 'INVOICE',
    destination_id: invoice_id,
    amount: '30',
    currency: 'usd',
    idempotency_key: nextKey(),
    ...more,
  });
const byCard = (world: World, method: string, more: object = {}) =>
  pay(world, {
    payment_method_type: 'CARD',
    payment_gateway: 'test',
    payment_method_id: method,
    ...more,
  });
const ofInvoice = ({ invoice_id }: World, path: string, body: object = {}) =>
  api.post(`/v1/invoices/${invoice_id}/${path}`, body);
const session = ({ session: { id } }: World, path: string) =>
  api.post(`/v1/checkout/sessions/${id}/${path}`);
const reconcile = async () =>
  void (await reconcilePayments.run(api.deps, jobRunAt(later(600_000))));
const invoiceOf = async ({ invoice_id }: World) =>
  (await api.get(`/v1/invoices/${invoice_id}`)).body;

const walletOf = async (customer_id: string) =>
  (await api.get(`/v1/customers/${customer_id}/wallets`)).body[0];

/** Everything that may happen to a payment, by the name that the table uses. */
const ACTIONS = {
  // The customer and the gateway.
  paid: (world) => outcome(world, 'success'),
  'paid, told twice': (world) => outcome(world, 'duplicate'),
  'paid, told out of order': (world) => outcome(world, 'reordered'),
  'paid, told late': (world) => outcome(world, 'late'),
  async 'paid, never told, asked'(world) {
    await outcome(world, 'timeout');
    await reconcile();
  },
  declined: (world) => outcome(world, 'decline'),
  disputed: (world) => outcome(world, 'dispute'),
  polled: ({ session: { id } }) => api.get(`/v1/checkout/sessions/${id}`),
  // The session.
  cancelled: (world) => session(world, 'cancel'),
  deleted: ({ session: { id } }) => api.delete(`/v1/checkout/sessions/${id}`),
  async expired() {
    await expireCheckouts.run(api.deps, jobRunAt(later(1_801_000)));
  },
  'opened again': async ({ customer_id, invoice_id }) =>
    api.post('/v1/checkout/sessions', {
      customer_external_id: (await api.get(`/v1/customers/${customer_id}`)).body.external_id,
      action: 'pay_invoice',
      configuration: { pay_invoice_params: { invoice_id } },
      ...checkout,
    }),
  'payment deleted': ({ payment_id }) => api.delete(`/v1/payments/${payment_id}`),
  // Other ways to pay the invoice.
  'paid offline': (world) => pay(world, { payment_method_type: 'OFFLINE' }),
  'paid with credits': (world) => pay(world, { payment_method_type: 'CREDITS' }),
  'paid by card': (world) => byCard(world, 'pm_test_success'),
  'paid by card, the same click': (world) =>
    byCard(world, 'pm_test_success', { idempotency_key: `click-${world.invoice_id}` }),
  'card declined': (world) => byCard(world, 'pm_test_decline'),
  async 'card charged, answer lost, asked'(world) {
    await byCard(world, 'pm_test_timeout');
    await reconcile();
  },
  async 'card confirmed late'(world) {
    const { body } = await byCard(world, 'pm_test_3ds');
    if (body.id !== undefined) return await outcome({ ...world, payment_id: body.id }, 'success');
  },
  attempted: (world) => ofInvoice(world, 'payment/attempt'),
  'method deleted': ({ customer_id, method_id }) =>
    api.delete(`/v1/customers/${customer_id}/payment-methods/${method_id}`),
  'marked as paid': ({ invoice_id }) =>
    api.put(`/v1/invoices/${invoice_id}/payment`, { payment_status: 'SUCCEEDED' }),
  // Documents.
  voided: (world) => ofInvoice(world, 'void'),
  async adjusted(world) {
    const { line_items } = await invoiceOf(world);
    return await api.post('/v1/creditnotes', {
      invoice_id: world.invoice_id,
      reason: 'BILLING_ERROR',
      process_credit_note: true,
      idempotency_key: nextKey(),
      line_items: [{ invoice_line_item_id: line_items?.[0]?.id ?? 'inv_line_none', amount: '20' }],
    });
  },
  refunded: ({ payment_id }) => api.post('/v1/refunds', { payment_id, amount: '20' }),
  'refunded, the same click': ({ payment_id }) =>
    api.post('/v1/refunds', { payment_id, amount: '20', idempotency_key: `back-${payment_id}` }),
  async 'subscription ended'(world) {
    const [row] = await api.pool<{ subscription_id: string }[]>`
      select subscription_id from invoices where id = ${world.invoice_id}`;
    return await api.post(`/v1/subscriptions/${row!.subscription_id}/cancel`, {
      cancellation_type: 'immediate',
      proration_behavior: 'none',
    });
  },
  async 'wallet emptied by hand'({ customer_id }) {
    const wallet = await walletOf(customer_id);
    return await api.post(`/v1/wallets/${wallet.id}/debit`, {
      credits: wallet.credit_balance,
      transaction_reason: 'MANUAL_BALANCE_DEBIT',
      idempotency_key: nextKey(),
    });
  },
  'wallet ended': async ({ customer_id }) =>
    api.post(`/v1/wallets/${(await walletOf(customer_id)).id}/terminate`),
  async collected() {
    await runAtNow(api, collectInvoices, api.deps);
  },
  async 'subscription ends with its period'(world) {
    const [row] = await api.pool<{ subscription_id: string }[]>`
      select subscription_id from invoices where id = ${world.invoice_id}`;
    return await api.post(`/v1/subscriptions/${row!.subscription_id}/cancel`, {
      cancellation_type: 'end_of_period',
    });
  },
} as const satisfies Record<string, Action>;
type ActionName = keyof typeof ACTIONS;

/** An issued invoice of 30 of a customer with 100 credits to pay with and a saved card. */
async function issued(credits = '100'): Promise<World> {
  const customer = await catalogOf(api).customer();
  const { body: invoice } = await api.post('/v1/invoices', {
    invoice_type: 'ONE_OFF',
    invoice_status: 'FINALIZED',
    customer_id: customer.id,
    currency: 'usd',
    line_items: [{ display_name: 'Work', amount: '30', quantity: '1' }],
  });
  expect(invoice).toMatchObject({ invoice_status: 'FINALIZED', amount_remaining: '30' });
  const { body: wallet } = await api.post('/v1/wallets', {
    customer_id: customer.id,
    currency: 'usd',
    wallet_type: 'POST_PAID',
  });
  const { status } = await api.post(`/v1/wallets/${wallet.id}/top-up`, {
    credits_to_add: credits,
    transaction_reason: 'FREE_CREDIT_GRANT',
    idempotency_key: nextKey(),
  });
  expect(status).toBe(200);
  const { body: method } = await api.post(`/v1/customers/${customer.id}/payment-methods`, {
    gateway_method_id: 'pm_test_success',
  });
  const none = { session: null, payment_id: null, done: null };
  return { ...none, customer_id: customer.id, invoice_id: invoice.id, method_id: method.id };
}

/** A page on which the invoice is paid. */
async function withPage(): Promise<World> {
  const world = await issued();
  const { status, body } = await ACTIONS['opened again'](world);
  expect(status).toBe(201);
  return { ...world, session: body, payment_id: body.checkout_payment_id };
}

async function paidByCard(): Promise<World> {
  const world = await issued();
  const { body } = await byCard(world, 'pm_test_success');
  expect(body.payment_status).toBe('SUCCEEDED');
  return { ...world, payment_id: body.id };
}

/** An invoice of a subscription whose first charge was declined: the next one, of another card, is due. */
async function chargedAgain(): Promise<World> {
  await api.put('/v1/settings/payment_retry_config', {
    value: { enabled: true, intervals_days: [1, 1], final_action: 'none' },
  });
  const catalog = catalogOf(api);
  const plan = await catalog.plan();
  await catalog.fixed(plan, '30');
  const customer = await catalog.customer();
  const save = async (gateway_method_id: string) =>
    (
      await api.post(`/v1/customers/${customer.id}/payment-methods`, {
        gateway_method_id,
        is_default: true,
      })
    ).body;
  await save('pm_test_decline');
  const start_date = new Date(api.clock.now()).toISOString();
  const { latest_invoice } = await catalog.subscribe(customer, plan, { start_date });
  const method = await save('pm_test_success');
  api.clock.advance(86_400_000);
  const none = { session: null, payment_id: null, done: null };
  return { ...none, customer_id: customer.id, invoice_id: latest_invoice.id, method_id: method.id };
}

/** An invoice for credits of an automatic top-up, which the job charges to the saved card. */
async function toppedUp(): Promise<World> {
  const customer = await catalogOf(api).customer();
  const { body: method } = await api.post(`/v1/customers/${customer.id}/payment-methods`, {
    gateway_method_id: 'pm_test_success',
  });
  const { status } = await api.post('/v1/wallets', {
    customer_id: customer.id,
    currency: 'usd',
    initial_credits_to_load: '5',
    auto_topup: { enabled: true, invoicing: true, threshold: '10', amount: '30' },
  });
  expect(status).toBe(200);
  await api.post(`/v1/wallets/${(await walletOf(customer.id)).id}/debit`, {
    credits: '1',
    transaction_reason: 'MANUAL_BALANCE_DEBIT',
    idempotency_key: nextKey(),
  });
  const { items } = (await api.post('/v1/invoices/search', { customer_id: customer.id })).body;
  expect(items).toMatchObject([{ billing_reason: 'WALLET_AUTO_TOPUP', amount_remaining: '30' }]);
  const none = { session: null, payment_id: null, done: null };
  return { ...none, customer_id: customer.id, invoice_id: items[0].id, method_id: method.id };
}

const gateOf = (index: number) => async (): Promise<World> => {
  const { session: opened, done } = await kinds[index]!.open();
  return {
    customer_id: opened.customer_id,
    invoice_id: opened.checkout_invoice_id,
    session: opened,
    payment_id: opened.checkout_payment_id,
    done,
    method_id: null,
  };
};

const GROUNDS: Readonly<Record<string, () => Promise<World>>> = {
  'an invoice': () => issued(),
  'an invoice, and credits for a third of it': () => issued('10'),
  'a page of an invoice': withPage,
  'a paid invoice': paidByCard,
  'an invoice that is charged again': chargedAgain,
  'an automatic top-up': toppedUp,
  ...Object.fromEntries(kinds.map(({ name }, index) => [`a checkout of ${name}`, gateOf(index)])),
};

const RACES: readonly (readonly [string, ActionName, ActionName])[] = [
  ...kinds.map(({ name }) => [`a checkout of ${name}`, 'paid', 'cancelled'] as const),
  ['a checkout of a one-off invoice', 'paid', 'paid'],
  ['a checkout of a one-off invoice', 'paid, told twice', 'expired'],
  ['a checkout of a one-off invoice', 'paid, told out of order', 'polled'],
  ['a checkout of a one-off invoice', 'paid, never told, asked', 'cancelled'],
  ['a checkout of a one-off invoice', 'paid, never told, asked', 'expired'],
  ['a checkout of a one-off invoice', 'paid', 'declined'],
  ['a checkout of a one-off invoice', 'declined', 'expired'],
  ['a checkout of a one-off invoice', 'cancelled', 'expired'],
  ['a checkout of a one-off invoice', 'paid', 'deleted'],
  ['a checkout of a one-off invoice', 'paid', 'payment deleted'],
  ['a checkout of a one-off invoice', 'paid', 'opened again'],
  ['a checkout of a one-off invoice', 'paid', 'paid offline'],
  ['a checkout of a one-off invoice', 'paid', 'paid by card'],
  ['a checkout of a one-off invoice', 'paid', 'voided'],
  ['a checkout of a one-off invoice', 'paid', 'marked as paid'],
  ['a checkout of a new subscription', 'paid, told twice', 'expired'],
  ['a checkout of a new subscription', 'paid', 'subscription ended'],
  ['a checkout of a top-up', 'paid, never told, asked', 'expired'],
  ['a checkout of a top-up', 'paid, told twice', 'deleted'],
  ['a checkout of more seats', 'paid', 'subscription ended'],
  ['a checkout of an addon, attached', 'paid, told twice', 'expired'],
  ['a checkout of an addon, attached', 'paid', 'subscription ended'],
  ['a checkout of a plan change', 'paid', 'subscription ended'],

  ['a page of an invoice', 'paid', 'cancelled'],
  ['a page of an invoice', 'paid, told late', 'expired'],
  ['a page of an invoice', 'paid', 'paid offline'],
  ['a page of an invoice', 'paid', 'paid with credits'],
  ['a page of an invoice', 'paid', 'paid by card'],
  ['a page of an invoice', 'paid', 'marked as paid'],
  ['a page of an invoice', 'paid', 'voided'],
  ['a page of an invoice', 'paid, never told, asked', 'voided'],
  ['a page of an invoice', 'paid', 'adjusted'],
  ['a page of an invoice', 'paid', 'payment deleted'],
  ['a page of an invoice', 'paid', 'opened again'],
  ['a page of an invoice', 'paid', 'attempted'],
  ['a page of an invoice', 'cancelled', 'paid offline'],
  ['a page of an invoice', 'declined', 'paid by card'],

  ['an invoice', 'paid by card', 'paid by card'],
  ['an invoice', 'paid by card, the same click', 'paid by card, the same click'],
  ['an invoice', 'paid by card', 'paid offline'],
  ['an invoice', 'paid by card', 'card declined'],
  ['an invoice', 'paid by card', 'voided'],
  ['an invoice', 'paid by card', 'adjusted'],
  ['an invoice', 'paid with credits', 'paid with credits'],
  ['an invoice', 'paid with credits', 'paid offline'],
  ['an invoice', 'paid with credits', 'voided'],
  ['an invoice', 'paid with credits', 'adjusted'],
  ['an invoice', 'paid offline', 'voided'],
  ['an invoice', 'marked as paid', 'paid by card'],
  ['an invoice, and credits for a third of it', 'attempted', 'attempted'],
  ['an invoice, and credits for a third of it', 'attempted', 'method deleted'],
  ['an invoice, and credits for a third of it', 'attempted', 'voided'],
  ['an invoice', 'card charged, answer lost, asked', 'paid offline'],
  ['an invoice', 'card charged, answer lost, asked', 'voided'],
  ['an invoice', 'card confirmed late', 'voided'],
  ['an invoice', 'card confirmed late', 'paid by card'],

  ['a paid invoice', 'refunded', 'refunded'],
  ['a paid invoice', 'refunded, the same click', 'refunded, the same click'],
  ['a paid invoice', 'refunded', 'voided'],
  ['a paid invoice', 'refunded', 'adjusted'],
  ['a paid invoice', 'refunded', 'disputed'],
  ['a paid invoice', 'voided', 'voided'],
  ['a paid invoice', 'voided', 'paid, told twice'],
  ['a paid invoice', 'payment deleted', 'refunded'],
  ['a paid invoice', 'adjusted', 'adjusted'],
  ['a paid invoice', 'adjusted', 'disputed'],
  ['an invoice', 'paid with credits', 'wallet emptied by hand'],
  ['an invoice', 'paid with credits', 'wallet ended'],
  ['an invoice that is charged again', 'collected', 'collected'],
  ['an invoice that is charged again', 'collected', 'paid by card'],
  ['an invoice that is charged again', 'collected', 'voided'],
  ['an invoice that is charged again', 'collected', 'adjusted'],
  ['an automatic top-up', 'collected', 'paid offline'],
  ['an automatic top-up', 'collected', 'wallet emptied by hand'],
  ['an automatic top-up', 'collected', 'wallet ended'],
  ['an automatic top-up', 'collected', 'voided'],
  ['a checkout of a top-up', 'paid', 'wallet ended'],
  ['a checkout of a plan change', 'paid', 'subscription ends with its period'],
];

/** Waits until all pending work has ended. */
async function settle() {
  await reconcile();
  await expireCheckouts.run(api.deps, jobRunAt(later(3_600_000)));
  await reconcilePayments.run(api.deps, jobRunAt(later(7_200_000)));
}

/** Whether what was bought is given, while its invoice is paid and its session completed, or none of it. */
async function assertGate(
  { session: opened, done, invoice_id }: World,
  actions: readonly ActionName[],
) {
  if (done === null) return;
  const { checkout_status } = (await api.get(`/v1/checkout/sessions/${opened.id}`)).body;
  const [invoice] = await api.pool<{ invoice_status: string; kept: string }[]>`
    select i.invoice_status,
           coalesce((select sum(p.amount) from payments p
                      where p.destination_id = i.id and p.succeeded_at is not null), 0)
           - coalesce((select sum(r.amount) from refunds r join payments p on p.id = r.payment_id
                        where p.destination_id = i.id and r.refund_status = 'SUCCEEDED'), 0) as kept
      from invoices i where i.id = ${invoice_id}`;
  // An invoice that is voided after its session was completed returns its money.
  const isVoided = actions.includes('voided') && invoice!.invoice_status === 'VOIDED';
  const isKept = checkout_status === 'completed' && !isVoided;
  expect({ ...invoice, kept: new Decimal(invoice!.kept).toString() }).toEqual(
    isKept ? { invoice_status: 'FINALIZED', kept: '30' } : { invoice_status: 'VOIDED', kept: '0' },
  );
  // The end of a wallet takes the credits that were bought.
  const isTakenBack =
    isVoided || actions.includes('subscription ended') || actions.includes('wallet ended');
  if (!isTakenBack) expect(await done().catch(() => false)).toBe(isKept);
}

describe.each(RACES)('%s: %s, %s', (ground, left, right) => {
  test.each(['in this order', 'in the other order', 'at once'])('%s', async (how) => {
    const world = await GROUNDS[ground]!();
    const run = async (name: ActionName) => {
      const answer = await (ACTIONS[name] as Action)(world);
      if (answer !== undefined && answer.status >= 500)
        throw new Error(`${name}: ${answer.status} ${JSON.stringify(answer.body)}`);
    };
    if (how === 'at once') await Promise.all([run(left), run(right)]);
    else
      for (const name of how === 'in this order' ? [left, right] : [right, left]) await run(name);
    await settle();
    expect(await brokenMoney(api, world.customer_id)).toEqual([]);
    await assertGate(world, [left, right]);
  });
});

test.each(['an invoice that is charged again', 'an automatic top-up'])(
  '%s: the job charges it',
  async (ground) => {
    const world = await GROUNDS[ground]!();
    await ACTIONS.collected();
    expect(await invoiceOf(world)).toMatchObject({
      payment_status: 'SUCCEEDED',
      amount_paid: '30',
    });
  },
);

test('no wallet of all these races has a contradiction', async () => {
  const { checked, faulty } = await auditWallets(api.pool);
  expect(faulty).toEqual([]);
  expect(checked).toBeGreaterThan(RACES.length);
});

test('the table has at least 40 races', () => expect(RACES.length).toBeGreaterThanOrEqual(40));
