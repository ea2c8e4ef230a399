import { gatewayUnavailable } from '../../api/billing/gateways/open-gateway.ts';
import { BillingError } from '../../domain/errors.ts';
import { recordPages } from '../../jobs/record-pages.ts';
import { JobLeaseLost } from '../../postgres/tables/job-leases.ts';

const SCOPE = { tenant_id: 'tenant_a', environment_id: 'env_a' };

/** Records 1 to 5 in pages of 2. `fails` throws what it answers. */
function records(fails: (key: number) => Error | null, more: { isAtOnce?: boolean } = {}) {
  const worked: number[] = [];
  const failed: object[] = [];
  const totals = { failed: 0 };
  const abort = new AbortController();
  const run = { signal: abort.signal, fail: (ids: object) => void failed.push(ids) };
  const turn = recordPages<number>(run, SCOPE, totals, {
    page: 2,
    find: async (after, limit) =>
      [1, 2, 3, 4, 5].filter((key) => key > (after ?? 0)).slice(0, limit),
    async work(key) {
      const error = fails(key);
      if (error !== null) throw error;
      await new Promise((resolve) => setImmediate(resolve));
      worked.push(key);
    },
    failed: (key) => [{ key: String(key) }, 'not done'],
    ...more,
  });
  return { turn, worked, failed, totals, abort };
}

test.each([{ isAtOnce: false }, { isAtOnce: true }])(
  'a record that fails is counted and stops no other: %j',
  async (more) => {
    const { turn, worked, failed, totals } = records(
      (key) => (key === 2 ? new Error() : null),
      more,
    );
    expect([await turn(), await turn(), await turn()]).toEqual([true, true, false]);
    expect(worked).toEqual([1, 3, 4, 5]);
    expect([totals, failed]).toEqual([{ failed: 1 }, [{ key: '2', ...SCOPE }]]);
  },
);

test('a gateway that is silent is a failure of the record; an outage of a store ends the turn', async () => {
  const silent = records((key) => (key === 1 ? gatewayUnavailable() : null), { isAtOnce: true });
  expect([await silent.turn(), silent.worked, silent.totals]).toEqual([true, [2], { failed: 1 }]);
  const away = new BillingError('unavailable', 'usage_unavailable', 'away');
  await expect(records(() => away).turn()).rejects.toBe(away);
});

test('a lost lease ends the turn once the others of the page are done', async () => {
  const lost = new JobLeaseLost('collect-invoices');
  const { turn, worked, totals } = records((key) => (key === 1 ? lost : null), { isAtOnce: true });
  await expect(turn()).rejects.toBe(lost);
  expect([worked, totals]).toEqual([[2], { failed: 0 }]);
});

test('a run that is to stop begins no further record', async () => {
  const { turn, worked, abort } = records(() => null);
  await turn();
  abort.abort();
  expect(await turn()).toBe(false);
  expect(worked).toEqual([1, 2]);
});
