import { evaluateWallet } from '../../api/billing/balances/evaluate-wallet.ts';
import { startBillingWorld, type BillingWorld } from '../support/billing-world.ts';
import { day } from '../support/day.ts';
import { inTurns } from '../support/turns.ts';

/** Wallets with alerts are compared every 5 seconds, most of them without news (money 3.12). */
let world: BillingWorld;
let reads = 0;
beforeAll(async () => {
  world = await startBillingWorld();
  const reader = world.usage.reader;
  const read = reader.read.bind(reader);
  reader.read = (...asked) => {
    reads += 1;
    return read(...asked);
  };
});
afterAll(() => world.stop());

const LEVELS = {
  ...{ alert_enabled: true, info: null, warning: null },
  critical: { threshold: '10', condition: 'below' },
};

/** A wallet with 100 credits of a customer who pays 1 for a call, from April on. */
async function prepaid(number: number) {
  const { api, catalog } = world;
  const plan = await catalog.plan();
  const meter = await catalog.meter();
  await catalog.usage(plan, meter, { amount: '1' });
  const customer = await catalog.customer();
  await catalog.subscribe(customer, plan, { start_date: day(`2026-04-0${number}`) });
  const wallet = await api.postOk('/v1/wallets', {
    ...{ customer_id: customer.id, currency: 'usd', alert_settings: LEVELS },
    initial_credits_to_load: '100',
  });
  return {
    id: wallet.id as string,
    use: (calls: string) => world.usage.use(meter, customer, day('2026-04-10'), calls),
    states: async () =>
      (await api.postOk('/v1/alerts/search', { entity_type: 'wallet', entity_id: wallet.id })).items
        .map(({ alert_status }: { alert_status: string }) => alert_status),
  };
} // prettier-ignore

/** The job's report, and how often it read usage. */
async function evaluated() {
  reads = 0;
  const report = await world.run('evaluate-wallets');
  return { ...report, reads };
}

test('a page of wallets is compared with one read of usage; only a wallet with news is locked', async () => {
  world.api.clock.set(day('2026-04-12'));
  const wallets = [await prepaid(1), await prepaid(2), await prepaid(3)];
  expect(await evaluated()).toMatchObject({ evaluated: 3, failed: 0, reads: 1 });
  await wallets[1]!.use('95');
  // The page, and the wallet itself.
  expect(await evaluated()).toMatchObject({ evaluated: 3, failed: 0, reads: 2 });
  expect(await Promise.all(wallets.map(({ states }) => states()))).toEqual([[], ['in_alarm'], []]);
  await world.api.pool.begin(async (tx) => {
    await tx`select id from wallets where id = any(${wallets.map(({ id }) => id)}) for update`;
    // A wallet without news waits for nobody.
    expect(await evaluated()).toMatchObject({ evaluated: 3, failed: 0, reads: 1 });
  });
});

test('a wallet that cannot be compared does not stop the others of its page', async () => {
  world.api.clock.set(day('2026-04-12'));
  const [one, other] = [await prepaid(1), await prepaid(2)];
  const broken = { enabled: true, amount: '5', threshold: 'none', invoicing: false };
  await world.api.pool`
    update wallets set auto_topup = ${world.api.pool.json(broken)} where id = ${one.id}`;
  await one.use('95');
  await other.use('95');
  expect(await evaluated()).toMatchObject({ failed: 1 });
  expect([await one.states(), await other.states()]).toEqual([[], ['in_alarm']]);
  await world.api.pool`update wallets set auto_topup = null where id = ${one.id}`;
});

/** What an invoice claims counts once: as open, or as the credits that have paid it. */
test('an invoice that takes credits while an evaluation waits does not count twice', async () => {
  const { api, catalog } = world;
  api.clock.set(day('2026-04-12'));
  const customer = await catalog.customer();
  const wallet = await api.postOk('/v1/wallets', {
    ...{ customer_id: customer.id, currency: 'usd', initial_credits_to_load: '100' },
    auto_topup: { enabled: true, threshold: '30', amount: '50', invoicing: false },
  });
  const row = { display_name: 'Calls', amount: '50', quantity: '1', price_type: 'USAGE' };
  const first = await api.postOk('/v1/invoices', {
    ...{ customer_id: customer.id, invoice_type: 'ONE_OFF', currency: 'usd', line_items: [row] },
  });
  const edit = { line_items: [{ ...row, action: 'add', amount: '10' }] };
  await api.postOk(`/v1/invoices/${first.id}/modify/execute`, edit);
  const draft = { id: (await api.get(`/v1/invoices/${first.id}`)).body.recalculated_invoice_id };
  const balances = async () => {
    const { body } = await api.get(`/v1/wallets/${wallet.id}/balance/real-time`);
    return [body.balance, body.real_time_balance];
  };
  expect(await balances()).toEqual(['100', '40']);
  const [issued] = await inTurns<[{ status: number }, void]>(
    api,
    (tx) => tx`select from wallets where id = ${wallet.id} for update`,
    () => api.post(`/v1/invoices/${draft.id}/finalize`),
    () => evaluateWallet(api.deps, { scope: api.scope, user_id: '' }, wallet.id),
  );
  expect(issued.status).toBe(200);
  expect(await balances()).toEqual(['40', '40']);
});
