import { takeTurns } from '../../jobs/scope-turns.ts';
import { JobLeaseLost } from '../../postgres/tables/job-leases.ts';
import { BillingError } from '../../domain/errors.ts';

const away = () => new BillingError('unavailable', 'usage_unavailable', 'away');
const scopesOf = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ tenant_id: `t${index}`, environment_id: 'e' }));

/** Takes turns over tenants with so many pages each; `failing` throws at every turn of a tenant. */
async function turns(
  pages: readonly number[],
  { generation = '0', failing = {} }: { generation?: string; failing?: Record<number, Error> } = {},
) {
  const order: string[] = [];
  const run = {
    lease: { name: 'test', generation },
    signal: new AbortController().signal,
    fail: () => {},
  };
  const taken = takeTurns(run, scopesOf(pages.length), ({ tenant_id }) => {
    const index = Number(tenant_id.slice(1));
    let left = pages[index]!;
    return async () => {
      order.push(tenant_id);
      if (failing[index] !== undefined) throw failing[index];
      left -= 1;
      return left > 0;
    };
  });
  const error = await taken.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  return { order: order.join(' '), error };
}

test('a tenant with many pages gives way after each of them', async () => {
  expect(await turns([4, 1, 2])).toEqual({ order: 't0 t1 t2 t0 t2 t0 t0', error: null });
});

test('another tenant is first in the next run', async () => {
  expect((await turns([1, 1, 1], { generation: '1' })).order).toBe('t1 t2 t0');
  expect((await turns([1, 1, 1], { generation: '5' })).order).toBe('t2 t0 t1');
});

test('one that fails has no further turn; the others do, and the run succeeds', async () => {
  const failing = { 0: new TypeError('bug') };
  expect(await turns([3, 2], { failing })).toEqual({ order: 't0 t1 t1', error: null });
});

test('a store that is unreachable for one tenant is queried for the others', async () => {
  expect(await turns([1, 1, 1], { failing: { 0: away(), 1: away() } })).toEqual({
    order: 't0 t1 t2',
    error: null,
  });
});

test('a store that is unreachable for three tenants in a row ends the run with an error', async () => {
  const error = away();
  const failing = { 0: error, 1: error, 2: error };
  expect(await turns([1, 1, 1, 1, 1], { failing })).toEqual({ order: 't0 t1 t2', error });
});

test('if every tenant failed the run has failed', async () => {
  const error = new TypeError('bug');
  expect(await turns([1, 1], { failing: { 0: error, 1: error } })).toEqual({
    order: 't0 t1',
    error,
  });
});

test('a lost lease ends the run at once', async () => {
  const error = new JobLeaseLost('test');
  expect(await turns([1, 1], { failing: { 0: error } })).toEqual({ order: 't0', error });
});

test('without waiting tenants nothing happens', async () => {
  expect(await turns([])).toEqual({ order: '', error: null });
});
