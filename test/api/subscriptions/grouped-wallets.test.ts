import { billingWorldFrom } from '../../support/billing-world.ts';
import { completeBackfills } from '../../support/usage-oracle.ts';

/** Whose wallets the usage and the grants of a grouped subscription concern: those of who is billed (billing 16). */
const world = billingWorldFrom('2026-04-01T00:00:00.000Z');

const day = (text: string) => `2026-${text}T00:00:00.000Z`;

/** A child that pays 2.00 a call, whose parent has a plan of its own. */
async function group(more: object = {}, moreOfParent: object = {}) {
  const { catalog } = world;
  const [ofParent, ofChild] = [await catalog.plan(), await catalog.plan()];
  await catalog.fixed(ofParent, '100', { display_name: 'Office' });
  const meter = await catalog.meter();
  await catalog.usage(ofChild, meter, { amount: '2' });
  await completeBackfills(world.api.pool);
  const [payer, user] = [await catalog.customer(), await catalog.customer()];
  const start_date = day('04-01');
  const parent = await catalog.subscribe(payer, ofParent, { start_date, ...moreOfParent });
  const child = await catalog.subscribe(user, ofChild, {
    ...{ start_date, parent_subscription_id: parent.id },
    ...more,
  });
  return { payer, user, parent, child, meter };
}

const walletOf = async ({ id }: { id: string }, more: object = {}) => {
  const body = { customer_id: id, currency: 'usd', initial_credits_to_load: '100', ...more };
  const answer = await world.api.post('/v1/wallets', body);
  expect(answer.status).toBe(200);
  return answer.body;
};
const ongoing = async ({ id }: { id: string }) =>
  (await world.api.get(`/v1/wallets/${id}/balance/real-time`)).body.real_time_balance;
const walletsOf = async ({ id }: { id: string }) =>
  (await world.api.get(`/v1/customers/${id}/wallets`)).body.map(({ balance }: any) => balance);
const leave = async (child: { id: string }) => {
  const { status } = await world.api.post(`/v1/subscriptions/${child.id}/modify/execute`, {
    type: 'grouped_invoicing',
    grouped_invoicing_params: { action: 'remove' },
  });
  expect(status).toBe(200);
};

describe('the usage of the running period claims the wallet', () => {
  test('of the customer of the parent, whose invoice has its rows', async () => {
    const { payer, user, meter } = await group();
    const [ofPayer, ofUser] = [await walletOf(payer), await walletOf(user)];
    await world.usage.use(meter, user, day('04-03'), '5');
    expect([await ongoing(ofPayer), await ongoing(ofUser)]).toEqual(['90', '100']);
    world.api.clock.set(day('05-01'));
    await world.close();
    await world.usage.use(meter, user, day('05-02'), '1');
    world.api.clock.set(day('05-03'));
    await world.finalize();
    // The invoice of April takes 10.00 of the wallet for usage; the fees of 100.00 wait for money.
    expect([await ongoing(ofPayer), await ongoing(ofUser)]).toEqual(['88', '100']);
  });

  test('of its own customer after it has left', async () => {
    const { payer, user, meter, child } = await group();
    const [ofPayer, ofUser] = [await walletOf(payer), await walletOf(user)];
    await world.usage.use(meter, user, day('04-03'), '5');
    await leave(child);
    expect([await ongoing(ofPayer), await ongoing(ofUser)]).toEqual(['100', '90']);
  });

  test('of its own customer if its parent ends within the period, by its end or a cancellation', async () => {
    const cancelled = await group();
    const { status } = await world.api.post(`/v1/subscriptions/${cancelled.parent.id}/cancel`, {
      cancellation_type: 'scheduled_date',
      cancel_at: day('04-20'),
    });
    expect(status).toBe(200);
    for (const { payer, user, meter } of [await group({}, { end_date: day('04-20') }), cancelled]) {
      const [ofPayer, ofUser] = [await walletOf(payer), await walletOf(user)];
      await world.usage.use(meter, user, day('04-03'), '5');
      expect([await ongoing(ofPayer), await ongoing(ofUser)]).toEqual(['100', '90']);
    }
  });

  test('so that a wallet of the customer of the parent is topped up', async () => {
    const { payer, user, meter } = await group();
    const wallet = await walletOf(payer, {
      auto_topup: { enabled: true, threshold: '50', amount: '80', invoicing: false },
    });
    await world.usage.use(meter, user, day('04-03'), '30');
    await world.run('evaluate-wallets');
    expect(await walletsOf(payer)).toEqual(['180']);
    expect(await ongoing(wallet)).toBe('120');
  });
});

describe('a grant adds credits to the wallet', () => {
  const credit_grants = [
    {
      ...{ name: 'Included', scope: 'SUBSCRIPTION', credits: '7', expiration_type: 'NEVER' },
      ...{ cadence: 'RECURRING', period: 'MONTHLY', period_count: 1 },
    },
  ];

  test('of the customer of the parent, at once and by the job', async () => {
    const { payer, user } = await group({ credit_grants });
    expect([await walletsOf(payer), await walletsOf(user)]).toEqual([['7'], []]);
    world.api.clock.set(day('05-01'));
    await world.close();
    await world.run('apply-credit-grants');
    expect([await walletsOf(payer), await walletsOf(user)]).toEqual([['14'], []]);
  });

  test('of its own customer after it has left', async () => {
    const { payer, user, child } = await group({ credit_grants });
    await leave(child);
    world.api.clock.set(day('05-01'));
    await world.close();
    await world.run('apply-credit-grants');
    expect([await walletsOf(payer), await walletsOf(user)]).toEqual([['7'], ['7']]);
  });
});
