import { setImmediate as nextTurn } from 'node:timers/promises';
import { catalogOf } from '../../support/catalog.ts';
import { startTestApi, type TestApi } from '../../support/api.ts';

const DAY_MS = 86_400_000;

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.close());

/** A subscription that began so many days ago, with a credit for each day: its wallet. */
async function backDated(days: number): Promise<any> {
  const catalog = catalogOf(api);
  const customer = await catalog.customer();
  const plan = await catalog.plan();
  await catalog.fixed(plan, '1');
  const grant = {
    ...{ name: 'Daily', scope: 'SUBSCRIPTION', credits: '0.1' },
    ...{ cadence: 'RECURRING', period: 'DAILY', period_count: 1, expiration_type: 'NEVER' },
  };
  const start_date = new Date(api.clock.now() - days * DAY_MS + 1).toISOString();
  await catalog.subscribe(customer, plan, { start_date, credit_grants: [grant] });
  return (await api.get(`/v1/customers/${customer.id}/wallets`)).body[0];
}

/** The most ids that the work draws in one turn of the event loop: no other request takes a step meanwhile. */
async function idsOfTurn(work: () => Promise<unknown>): Promise<number> {
  const { ids } = api.deps;
  const { next } = ids;
  let [most, drawn, isDone] = [0, 0, false];
  ids.next = (prefix) => {
    drawn += 1;
    most = Math.max(most, drawn);
    return next(prefix);
  };
  const turns = (async () => {
    for (; !isDone; drawn = 0) await nextTurn();
  })();
  await work();
  isDone = true;
  await turns;
  ids.next = next;
  return most;
}

test('a daily grant of a subscription that began long ago gives each day its credits (money 5.3.6), and other requests are served meanwhile', async () => {
  let wallet: any;
  const ids = await idsOfTurn(async () => (wallet = await backDated(1_000)));
  expect(wallet).toMatchObject({ credit_balance: '100' });
  expect(ids).toBeLessThan(200);
});
