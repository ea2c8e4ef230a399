import type { TouchedBucket } from '../../clickhouse/rows.ts';
import { SealList } from '../../stream/seal-list.ts';
import { dueAt, type PendingBucket } from '../../stream/seal-policy.ts';

const NOON = Date.UTC(2026, 9, 15, 12);
const MINUTE = 60_000;

describe('when a bucket is computed', () => {
  const bucket = (given: Partial<PendingBucket>): PendingBucket => ({
    bucket_size: '15MIN',
    bucket_start: NOON,
    pendingSince: NOON,
    changedAt: NOON,
    forced: false,
    ...given,
  });
  test.each<[string, Partial<PendingBucket>, number, boolean]>([
    ['its time still runs', {}, NOON + 15 * MINUTE - 1, false],
    ['its time is over and it is at rest', {}, NOON + 15 * MINUTE, true],
    ['it changed just now', { changedAt: NOON + 20 * MINUTE - 1 }, NOON + 20 * MINUTE, true],
    [
      'it changed just now and has not waited long',
      { pendingSince: NOON + 19 * MINUTE, changedAt: NOON + 20 * MINUTE - 1 },
      NOON + 20 * MINUTE,
      false,
    ],
    ['a day still runs', { bucket_size: 'DAY' }, NOON + 23 * 60 * MINUTE, false],
    ['a day is over', { bucket_size: 'DAY' }, NOON + 24 * 60 * MINUTE, true],
    ['a rebuild asks for it', { forced: true }, NOON, true],
  ])('%s', (_, given, now, due) => expect(dueAt(bucket(given)) <= now).toBe(due));
});

describe('the list of buckets to seal', () => {
  const touched = (given: Partial<TouchedBucket> = {}): TouchedBucket => ({
    tenant_id: 't',
    environment_id: 'e',
    external_customer_id: 'acme',
    meter_version_id: 'v',
    bucket_size: '15MIN',
    bucket_start: NOON,
    marks: { 0: 5n },
    seal: null,
    ...given,
  });
  const later = NOON + 60 * MINUTE;
  const never = () => undefined;
  const nobody = () => false;
  const due = (list: SealList, limit = 10) => list.due(later, limit, nobody).length;

  test('two buckets are never taken for one, whatever the ids of customers contain', () => {
    const list = new SealList();
    for (const external_customer_id of ['acme', 'acme\n0', '0\nacme', '"acme"', ''])
      list.note([touched({ external_customer_id })], never, NOON);
    expect(list.size).toBe(5);
    list.note([touched({ external_customer_id: 'acme' })], never, NOON);
    expect(list.size).toBe(5);
  });

  test('a bucket whose recorded seal is beyond its marks is not on it', () => {
    const list = new SealList();
    list.note([touched({ seal: 1n })], () => ({ 0: 6n }), NOON);
    expect(list.size).toBe(0);
    list.note([touched({ seal: 1n })], () => ({ 0: 5n }), NOON);
    expect(list.size).toBe(1);
    list.note([touched({ seal: 2n })], () => ({ 0: 9n }), NOON);
    expect(list.size).toBe(0);
  });

  test('a mark at or beyond the vector keeps a computed bucket on it', () => {
    const list = new SealList();
    list.note([touched()], never, NOON);
    list.sealed([touched()], { 0: 5n });
    expect(list.size).toBe(1);
    list.sealed([touched()], { 0: 6n });
    expect(list.size).toBe(0);
  });

  test('held buckets are left out, and at most the limit is due', () => {
    const list = new SealList();
    list.note([touched(), touched({ external_customer_id: 'beta' })], never, NOON);
    expect([due(list), due(list, 1)]).toEqual([2, 1]);
    expect(list.due(later, 10, (bucket) => bucket.meter_version_id === 'v')).toEqual([]);
  });

  test('a bucket is due at its time, also when it was not before, and stays due until it is computed', () => {
    const list = new SealList();
    const end = NOON + 15 * MINUTE;
    list.note([touched()], never, NOON + MINUTE);
    const dueNow = (at: number) => list.due(at, 10, nobody).length;
    expect([dueNow(NOON), dueNow(end - 1), dueNow(end), dueNow(end)]).toEqual([0, 0, 1, 1]);
    // A further mark lets it rest again; the mark that is listed twice does not.
    list.note([touched({ marks: { 0: 7n } })], never, end);
    list.note([touched({ marks: { 0: 7n } })], never, end + 5_000);
    expect([dueNow(end + 9_999), dueNow(end + 10_000)]).toEqual([0, 1]);
    // An earlier bucket that is listed later is due first.
    list.sealed([touched()], { 0: 8n });
    list.note([touched({ bucket_start: end })], never, NOON);
    expect(dueNow(end + 10_000)).toBe(0);
    list.note([touched({ bucket_start: NOON - 60 * MINUTE })], never, NOON);
    expect([dueNow(NOON + 9_999), dueNow(NOON + 10_000)]).toEqual([0, 1]);
  });

  test('a rebuild forces every bucket until it has been computed', () => {
    const list = new SealList();
    list.note([touched({ seal: 1n })], () => ({ 0: 9n }), NOON, true);
    list.note([touched({ seal: 1n })], () => ({ 0: 9n }), NOON);
    expect([list.hasForced(), list.due(NOON, 10, nobody).length]).toEqual([true, 1]);
    list.sealed([touched()], { 0: 9n });
    expect([list.hasForced(), list.size]).toEqual([false, 0]);
  });

  test('it knows how long the oldest one has waited', () => {
    const list = new SealList();
    expect(list.oldest()).toBeNull();
    list.note([touched()], never, NOON);
    list.note([touched({ external_customer_id: 'beta' }), touched()], never, NOON + MINUTE);
    expect(list.oldest()).toBe(NOON);
  });
});
