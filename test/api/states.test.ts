import { freezeWallet } from '../../api/billing/wallets/freeze-wallet.ts';
import { checkoutMachine } from '../../domain/states/checkout.ts';
import { creditNoteMachine } from '../../domain/states/credit-note.ts';
import { invoiceMachine } from '../../domain/states/invoice.ts';
import { pauseMachine } from '../../domain/states/pause.ts';
import { paymentMachine } from '../../domain/states/payment.ts';
import { refundMachine } from '../../domain/states/refund.ts';
import { canMove, move, type StateMachine } from '../../domain/states/state-machine.ts';
import { subscriptionMachine } from '../../domain/states/subscription.ts';
import { walletMachine } from '../../domain/states/wallet.ts';
import { startBillingWorld, type BillingWorld } from '../support/billing-world.ts';
import { invoiceDue, payOffline } from '../support/payments.ts';

/**
 * Every state with every trigger that a request can fire (docs/states.md): what the table has happens, and what it
 * does not have is refused with 400 and changes nothing. Rules: billing 19, money 21.
 */
let world: BillingWorld;
beforeAll(async () => {
  world = await startBillingWorld();
  await post('/connections', { name: 'Test', provider_type: 'test' });
});
afterAll(() => world.stop());
beforeEach(() => world.api.clock.set('2026-01-05T00:00:00.000Z'));

const post = (path: string, body: object = {}) => world.api.post(`/v1${path}`, body);
const get = async (path: string) => (await world.api.get(`/v1${path}`)).body;

interface Walk<State extends string, Trigger extends string> {
  readonly machine: StateMachine<State, Trigger>;
  /** Makes a record in each state. */
  readonly in: { readonly [state in State]?: () => Promise<{ readonly id: string }> };
  /** The request of each trigger. */
  readonly by: {
    readonly [trigger in Trigger]?: (record: any) => Promise<{ status: number; body: any }>;
  };
  state(record: any): Promise<string>;
  /** Cells where the route does more or less than the table, `state trigger`, with the reason. */
  readonly except?: Readonly<Record<string, { readonly status: number; readonly why: string }>>;
}

function walk<State extends string, Trigger extends string>(of: Walk<State, Trigger>): void {
  const { machine } = of;
  const cells = Object.keys(of.in).flatMap((from) =>
    Object.keys(of.by).map((trigger) => ({ from: from as State, trigger: trigger as Trigger })),
  );
  describe(`${machine.noun}: ${machine.field}`, () => {
    test.each(cells)('$from + $trigger', async ({ from, trigger }) => {
      const record = await of.in[from]!();
      expect(await of.state(record)).toBe(from);
      const { status, body } = await of.by[trigger]!(record);
      const known = of.except?.[`${from} ${trigger}`];
      if (known !== undefined) {
        expect([known.why, status]).toEqual([known.why, known.status]);
        if (known.status >= 300) expect(await of.state(record)).toBe(from);
        return;
      }
      if (canMove(machine, from, trigger)) {
        if (status >= 300) throw new Error(JSON.stringify(body));
        expect(await of.state(record)).toBe(move(machine, from, trigger));
      } else {
        expect([status, body.error?.message ?? body.message]).toEqual([400, expect.any(String)]);
        expect(await of.state(record)).toBe(from);
      }
    });
  });
}

/** A fee of 31 in advance and 10 in arrears. */
async function sold(more: object = {}): Promise<any> {
  const { catalog } = world;
  const plan = await catalog.plan();
  await catalog.fixed(plan, '31', { display_name: 'Base' });
  await catalog.fixed(plan, '10', { display_name: 'Support', invoice_cadence: 'ARREAR' });
  return await catalog.subscribe(await catalog.customer(), plan, {
    start_date: '2026-01-01T00:00:00.000Z',
    payment_behavior: 'default_active',
    ...more,
  });
}
async function then(subscription: any, path: string, body: object = {}): Promise<any> {
  await world.api.postOk(`/v1/subscriptions/${subscription.id}/${path}`, body);
  return subscription;
}
const NOW = { cancellation_type: 'immediate' };

walk({
  machine: subscriptionMachine,
  in: {
    draft: () => sold({ subscription_status: 'draft' }),
    trialing: () => sold({ trial_period_days: 30 }),
    active: () => sold(),
    incomplete: () => sold({ payment_behavior: 'default_incomplete' }),
    paused: async () => then(await sold(), 'pause'),
    cancelled: async () => then(await sold(), 'cancel', NOW),
  },
  by: {
    activate_active: ({ id }) =>
      post(`/subscriptions/${id}/activate`, { start_date: '2026-01-05T00:00:00.000Z' }),
    pause: ({ id }) => post(`/subscriptions/${id}/pause`),
    resume: ({ id }) => post(`/subscriptions/${id}/resume`),
    cancel: ({ id }) => post(`/subscriptions/${id}/cancel`, NOW),
  },
  state: async ({ id }) => (await get(`/subscriptions/${id}`)).subscription_status,
});

const statusOf = async ({ id }: { id: string }) =>
  (await get(`/subscriptions/${id}`)).subscription_status;

describe('subscription: what is not one request', () => {
  test('a draft with a trial is activated as trialing; an unpaid one as incomplete', async () => {
    const draft = { subscription_status: 'draft' };
    const trial = await sold({ ...draft, trial_period_days: 30 });
    await then(trial, 'activate', { start_date: '2026-01-05T00:00:00.000Z' });
    expect(await statusOf(trial)).toBe('trialing');
    const unpaid = await sold({ ...draft, payment_behavior: 'default_incomplete' });
    await then(unpaid, 'activate', { start_date: '2026-01-05T00:00:00.000Z' });
    expect(await statusOf(unpaid)).toBe('incomplete');
  });

  test('the job ends trials; the payment of the first invoice activates', async () => {
    const [paid, unpaid] = [
      await sold({ trial_period_days: 30 }),
      await sold({ trial_period_days: 30, payment_behavior: 'default_incomplete' }),
    ];
    world.api.clock.set('2026-01-31T00:00:00.000Z');
    await world.close();
    expect([await statusOf(paid), await statusOf(unpaid)]).toEqual(['active', 'incomplete']);
    const { body } = await post('/invoices/search', { subscription_id: unpaid.id });
    const due = body.items.find(({ amount_remaining }: any) => amount_remaining !== '0');
    await payOffline(world.api, due, due.amount_remaining);
    expect(await statusOf(unpaid)).toBe('active');
  });
});

/** A pause with its subscription. */
async function paused(body: object): Promise<any> {
  const subscription = await sold();
  const pause = await world.api.postOk(`/v1/subscriptions/${subscription.id}/pause`, body);
  return { id: pause.id, subscription_id: subscription.id };
}
async function pausedThen(body: object, path: (of: any) => string): Promise<any> {
  const pause = await paused(body);
  await world.api.postOk(`/v1${path(pause)}`);
  return pause;
}
const LATER = { pause_mode: 'scheduled', pause_start: '2026-01-20T00:00:00.000Z' };
const withdrawal = (of: any) => `/subscriptions/${of.subscription_id}/pauses/${of.id}/cancel`;
const resumption = (of: any) => `/subscriptions/${of.subscription_id}/resume`;

walk({
  machine: pauseMachine,
  in: {
    scheduled: () => paused(LATER),
    active: () => paused({}),
    completed: () => pausedThen({}, resumption),
    cancelled: () => pausedThen(LATER, withdrawal),
  },
  by: {
    withdraw: (of) => post(withdrawal(of)),
    resume: (of) => post(resumption(of)),
    cancel_subscription: (of) => post(`/subscriptions/${of.subscription_id}/cancel`, NOW),
  },
  state: async ({ id, subscription_id }) =>
    (await get(`/subscriptions/${subscription_id}/pauses`)).find((pause: any) => pause.id === id)
      .pause_status,
  except: {
    'completed cancel_subscription': { status: 200, why: 'the subscription has no pause any more' },
    'cancelled cancel_subscription': { status: 200, why: 'the subscription has no pause any more' },
  },
});

test('a planned pause starts in the job', async () => {
  const pause = await paused(LATER);
  world.api.clock.set('2026-01-21T00:00:00.000Z');
  await world.close();
  const pauses = await get(`/subscriptions/${pause.subscription_id}/pauses`);
  expect(pauses).toMatchObject([{ pause_status: 'active' }]);
});

/** The invoice of January's arrears: a draft, or skipped if nothing was used. */
async function cycle(kind: 'fee' | 'usage'): Promise<any> {
  const { catalog, api } = world;
  const plan = await catalog.plan();
  if (kind === 'usage') await catalog.usage(plan, await catalog.meter());
  else await catalog.fixed(plan, '10', { invoice_cadence: 'ARREAR' });
  const { id } = await catalog.subscribe(await catalog.customer(), plan, {
    start_date: '2026-01-01T00:00:00.000Z',
  });
  api.clock.set('2026-02-01T00:00:00.000Z');
  await world.close();
  const { body } = await post('/invoices/search', { subscription_id: id });
  return body.items[0];
}
async function cycleThen(path: string): Promise<any> {
  const invoice = await cycle('fee');
  await world.api.postOk(`/v1/invoices/${invoice.id}/${path}`);
  return invoice;
}

walk({
  machine: invoiceMachine,
  in: {
    DRAFT: () => cycle('fee'),
    SKIPPED: () => cycle('usage'),
    FINALIZED: () => cycleThen('finalize'),
    VOIDED: () => cycleThen('void'),
  },
  by: {
    compute_value: ({ id }) => post(`/invoices/${id}/compute`),
    finalize: ({ id }) => post(`/invoices/${id}/finalize`),
    void: ({ id }) => post(`/invoices/${id}/void`),
    edit: ({ id }) =>
      post(`/invoices/${id}/modify/execute`, {
        line_items: [{ action: 'add', display_name: 'Setup', amount: '5', quantity: '1' }],
      }),
    recalculate: ({ id }) => post(`/invoices/${id}/recalculate`),
    pay: ({ id }) => post(`/invoices/${id}/payment/attempt`),
  },
  state: async ({ id }) => (await get(`/invoices/${id}`)).invoice_status,
  except: {
    'SKIPPED compute_value': { status: 200, why: 'without value the trigger is compute_zero' },
    'VOIDED recalculate': { status: 400, why: 'only finalized invoices are recalculated by hand' },
  },
});

const due = (amount: string) =>
  invoiceDue(world.api, amount, { start_date: '2026-01-01T00:00:00.000Z' });

async function note(type: 'ADJUSTMENT' | 'REFUND', ...paths: string[]): Promise<any> {
  const { invoice } = await due('100');
  if (type === 'REFUND') await payOffline(world.api, invoice, '100');
  const created = await world.api.postOk('/v1/creditnotes', {
    invoice_id: invoice.id,
    reason: 'BILLING_ERROR',
    line_items: [{ invoice_line_item_id: invoice.line_items[0].id, amount: '10' }],
  });
  for (const path of paths) await world.api.postOk(`/v1/creditnotes/${created.id}/${path}`);
  return created;
}

for (const type of ['ADJUSTMENT', 'REFUND'] as const)
  describe(type, () => {
    walk({
      machine: creditNoteMachine,
      in: {
        DRAFT: () => note(type),
        FINALIZED: () => note(type, 'finalize'),
        VOIDED: () => note(type, 'void'),
      },
      by: {
        finalize: ({ id }) => post(`/creditnotes/${id}/finalize`),
        void: ({ id }) => post(`/creditnotes/${id}/void`),
      },
      state: async ({ id }) => (await get(`/creditnotes/${id}`)).credit_note_status,
      except:
        type === 'REFUND'
          ? { 'FINALIZED void': { status: 400, why: 'its money is returned' } }
          : {},
    });
  });

async function filled(): Promise<any> {
  const customer = await world.catalog.customer();
  return await world.api.postOk('/v1/wallets', {
    customer_id: customer.id,
    currency: 'usd',
    initial_credits_to_load: '50',
  });
}
async function frozen(): Promise<any> {
  const wallet = await filled();
  expect(await freeze(wallet, 'freeze')).toBe('frozen');
  return wallet;
}
const freeze = async ({ id }: any, trigger: 'freeze' | 'unfreeze') =>
  (await freezeWallet({ pool: world.api.pool, clock: world.api.clock }, id, trigger))!
    .wallet_status;
let keys = 0;

walk({
  machine: walletMachine,
  in: {
    active: filled,
    frozen,
    closed: async () => {
      const wallet = await filled();
      await world.api.postOk(`/v1/wallets/${wallet.id}/terminate`);
      return wallet;
    },
  },
  by: {
    credit: ({ id }) =>
      post(`/wallets/${id}/top-up`, {
        credits_to_add: '5',
        transaction_reason: 'FREE_CREDIT_GRANT',
        idempotency_key: `walk-${(keys += 1)}`,
      }),
    debit: ({ id }) =>
      post(`/wallets/${id}/debit`, {
        credits: '5',
        transaction_reason: 'MANUAL_BALANCE_DEBIT',
        idempotency_key: `walk-${(keys += 1)}`,
      }),
    terminate: ({ id }) => post(`/wallets/${id}/terminate`),
  },
  state: async ({ id }) => (await get(`/wallets/${id}`)).wallet_status,
});

test('the operator ends a freeze; a wallet that is not frozen cannot be unfrozen', async () => {
  const wallet = await frozen();
  expect(await freeze(wallet, 'unfreeze')).toBe('active');
  await expect(freeze(wallet, 'unfreeze')).rejects.toMatchObject({ code: 'invalid_operation' });
  expect(
    await freezeWallet({ pool: world.api.pool, clock: world.api.clock }, 'wallet_none', 'freeze'),
  ).toBeNull();
});

async function payment(path: readonly string[]): Promise<any> {
  const { invoice } = await due('100');
  const { body } = await payOffline(world.api, invoice, '100', { process_payment: false });
  for (const payment_status of path)
    expect((await world.api.put(`/v1/payments/${body.id}`, { payment_status })).status).toBe(200);
  return body;
}
const BY_REFUNDS = { status: 400, why: 'refunds decide the state' };

walk({
  machine: paymentMachine,
  in: {
    PENDING: () => payment([]),
    PROCESSING: () => payment(['PROCESSING']),
    SUCCEEDED: () => payment(['SUCCEEDED']),
    FAILED: () => payment(['FAILED']),
    VOIDED: () => payment(['VOIDED']),
  },
  by: Object.fromEntries(
    (
      ['INITIATED', 'PENDING', 'PROCESSING', 'SUCCEEDED', 'FAILED', 'REFUNDED', 'VOIDED'] as const
    ).map((to) => [
      to,
      ({ id }: any) => world.api.put(`/v1/payments/${id}`, { payment_status: to }),
    ]),
  ),
  state: async ({ id }) => (await get(`/payments/${id}`)).payment_status,
  except: {
    'SUCCEEDED REFUNDED': BY_REFUNDS,
    'SUCCEEDED VOIDED': { status: 400, why: 'a settled payment is returned by a refund' },
  },
});

/** A refund at the test gateway, as the gateway says it is. */
async function refund(state: 'pending' | 'succeeded' | 'failed' | 'cancelled'): Promise<any> {
  const { invoice } = await due('50');
  const { body: paid } = await payOffline(world.api, invoice, '50', {
    payment_method_type: 'CARD',
    payment_method_id: 'pm_test_success',
  });
  const sent = await world.api.postOk('/v1/refunds', {
    payment_id: paid.id,
    amount: '20',
    target: 'BACK_TO_SOURCE',
  });
  // What the gateway's own pages can do to a refund.
  await world.api.pool`update test_gateway_refunds set state = ${state} where token = ${sent.id}`;
  await world.api.pool`update refunds set refund_status = 'PROCESSING' where id = ${sent.id}`;
  await world.api.pool`update invoices set refunded_amount = 0 where id = ${invoice.id}`;
  if (state !== 'pending') await reconciled();
  return sent;
}
async function reconciled(): Promise<void> {
  world.api.clock.advance(2 * 24 * 60 * 60 * 1000);
  await world.reconcile();
}

walk({
  machine: refundMachine,
  in: {
    PROCESSING: () => refund('pending'),
    SUCCEEDED: () => refund('succeeded'),
    FAILED: () => refund('failed'),
    CANCELLED: () => refund('cancelled'),
  },
  by: { retry: ({ id }) => post(`/refunds/${id}/retry`) },
  state: async ({ id }) => (await get(`/refunds/${id}`)).refund_status,
});

test('a refund that was cancelled at its gateway releases what it reserved', async () => {
  const cancelled = await refund('cancelled');
  expect(await get(`/refunds/${cancelled.id}`)).toMatchObject({ cancelled_at: expect.any(String) });
  const { status } = await post('/refunds', { payment_id: cancelled.payment_id, amount: '50' });
  expect(status).toBe(201);
});

async function session(): Promise<any> {
  const customer = await world.catalog.customer();
  const { checkout_session } = await world.api.postOk('/v1/invoices', {
    invoice_type: 'ONE_OFF',
    customer_id: customer.id,
    currency: 'usd',
    line_items: [{ display_name: 'Work', amount: '30', quantity: '1' }],
    checkout: { payment_provider: 'test' },
  });
  return checkout_session;
}
const paid = (of: any) =>
  post(`/test-gateway/payments/${of.checkout_payment_id}/outcome`, { outcome: 'success' });
async function sessionThen(act: (of: any) => Promise<unknown>): Promise<any> {
  const opened = await session();
  await act(opened);
  return opened;
}
const cancelled = (of: any) => post(`/checkout/sessions/${of.id}/cancel`);

walk({
  machine: checkoutMachine,
  in: {
    pending: session,
    completed: () => sessionThen(paid),
    expired: () => sessionThen(cancelled),
  },
  by: { cancel: cancelled },
  state: async ({ id }) => (await get(`/checkout/sessions/${id}`)).checkout_status,
});

test('money for a session that was cancelled is recorded; the session stays expired', async () => {
  const ended = await sessionThen(cancelled);
  const before = await get(`/checkout/sessions/${ended.id}`);
  await world.api.pool`
    update test_gateway_payments set state = 'pending' where reference = ${ended.checkout_payment_id}`;
  world.api.clock.advance(60_000);
  await paid(ended);
  const after = await get(`/checkout/sessions/${ended.id}`);
  expect(after.checkout_status).toBe('expired');
  expect(after.updated_at > before.updated_at).toBe(true);
});
