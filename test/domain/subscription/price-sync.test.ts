import {
  planPriceSync,
  type SyncedLine,
  type SyncedPrice,
  type SyncedSubscription,
} from '../../../domain/subscription/price-sync.ts';
import { at } from '../pricing/lines.ts';

const NOW = at('2026-03-10');
const price = (id: string, more: Partial<SyncedPrice> = {}): SyncedPrice => ({
  id,
  parent_price_id: id,
  status: 'published',
  type: 'USAGE',
  invoice_cadence: 'ARREAR',
  currency: 'usd',
  billing_period: 'MONTHLY',
  billing_period_count: 1,
  start_date: null,
  end_date: null,
  ...more,
});
const line = (price_id: string, more: Partial<SyncedLine> = {}): SyncedLine => ({
  id: `line_${price_id}`,
  price_id,
  parent_price_id: price_id,
  entity_type: 'plan',
  end_date: null,
  ...more,
});
const subscription = (more: Partial<SyncedSubscription> = {}): SyncedSubscription => ({
  currency: 'usd',
  cadence: { billing_period: 'MONTHLY', billing_period_count: 1 },
  start_date: at('2026-01-01'),
  end_date: null,
  include_price_ids: null,
  open_from: at('2026-03-01'),
  advance_until: at('2026-04-01'),
  ...more,
});
const sync = (
  prices: SyncedPrice[],
  lines: SyncedLine[],
  more: Partial<SyncedSubscription> = {},
) => {
  const { ends, creates } = planPriceSync(prices, lines, subscription(more), NOW);
  return [
    ...ends.map((end) => `end ${end.line_item_id} ${end.end_date.slice(0, 10)}`),
    ...creates.map(
      (create) =>
        `create ${create.price_id} ${create.start_date.slice(0, 10)} ${create.end_date?.slice(0, 10) ?? 'open'}`,
    ),
  ];
};

describe('a new version of a price reaches a subscription (2.8)', () => {
  const versions = (change: string, more: Partial<SyncedPrice> = {}) => [
    price('v1', { end_date: at(change), ...more }),
    price('v2', { parent_price_id: 'v1', start_date: at(change), ...more }),
  ];
  const advance = { type: 'FIXED' as const, invoice_cadence: 'ADVANCE' as const };
  const arrear = { type: 'FIXED' as const };

  test.each<[string, Partial<SyncedPrice>, string, string[]]>([
    ['usage, at the change', {}, '2026-03-05', ['end line_v1 2026-03-05', 'create v2 2026-03-05 open']],
    ['usage, ahead', {}, '2026-05-05', ['end line_v1 2026-05-05', 'create v2 2026-05-05 open']],
    ['usage, in a finalized period: from the oldest open one', {}, '2026-02-05', ['end line_v1 2026-03-01', 'create v2 2026-03-01 open']],
    ['a fee in arrear, at the change', arrear, '2026-03-05', ['end line_v1 2026-03-05', 'create v2 2026-03-05 open']],
    ['a fee in advance, at the next boundary', advance, '2026-03-05', ['end line_v1 2026-04-01', 'create v2 2026-04-01 open']],
    ['a fee in advance, ahead', advance, '2026-05-01', ['end line_v1 2026-05-01', 'create v2 2026-05-01 open']],
  ])('%s', (_title, more, change, expected) => {
    expect(sync(versions(change, more), [line('v1')])).toEqual(expected);
  }); // prettier-ignore

  test('run again it changes nothing', () => {
    const lines = [
      line('v1', { end_date: at('2026-03-05') }),
      line('v2', { parent_price_id: 'v1' }),
    ];
    expect(sync(versions('2026-03-05'), lines)).toEqual([]);
    const earlier = [line('v1', { end_date: at('2026-02-01') }), lines[1]!];
    expect(sync(versions('2026-03-05'), earlier)).toEqual([]);
  });

  test('an end that is later than the price’s comes forward', () => {
    const lines = [line('v1', { end_date: at('2026-12-01') }), line('v2')];
    expect(sync(versions('2026-03-05'), lines)).toEqual(['end line_v1 2026-03-05']);
  });

  test('a price of the subscription’s own stays', () => {
    const own = line('own', { parent_price_id: 'v1', entity_type: 'subscription' });
    expect(sync(versions('2026-03-05'), [own])).toEqual([]);
  });

  describe('a version that has ended by now', () => {
    const three = (more: Partial<SyncedPrice> = {}) => [
      price('v1', { end_date: at('2026-03-02'), ...more }),
      price('v2', { parent_price_id: 'v1', start_date: at('2026-03-02'), end_date: NOW, ...more }),
      price('v3', { parent_price_id: 'v1', start_date: NOW, ...more }),
    ];
    const synced = [
      'end line_v1 2026-03-02',
      'create v2 2026-03-02 2026-03-10',
      'create v3 2026-03-10 open',
    ];

    test('bills its own time, so that no usage is free', () => {
      expect(sync(three(), [line('v1')])).toEqual(synced);
      // The line may have ended with its price before.
      const ended = line('v1', { end_date: at('2026-03-02') });
      expect(sync(three(), [ended])).toEqual(synced.slice(1));
    });

    test('bills nothing of a period that is final', () => {
      const old = three().slice(0, 2);
      old[0] = price('v1', { end_date: at('2026-01-05') });
      old[1] = { ...old[1]!, start_date: at('2026-01-05'), end_date: at('2026-02-20') };
      const last = price('v3', { parent_price_id: 'v1', start_date: at('2026-02-20') });
      expect(sync([...old, last], [line('v1')])).toEqual([
        'end line_v1 2026-03-01',
        'create v3 2026-03-01 open',
      ]);
    });

    test('gets no line after one that ended before it, of a one-time fee, of an advance, or without a later version', () => {
      const gone = line('v1', { end_date: at('2026-03-01') });
      expect(sync(three(), [gone])).toEqual(['create v3 2026-03-10 open']);
      const once = { type: 'FIXED' as const, billing_period: 'ONETIME' as const };
      expect(sync(three(once), [line('v1')])).not.toContain(synced[1]);
      expect(sync(three(advance), [line('v1')])).toEqual([
        'end line_v1 2026-04-01',
        'create v3 2026-04-01 open',
      ]);
      expect(sync(three().slice(0, 2), [line('v1')])).toEqual(['end line_v1 2026-03-02']);
    });
  });
});

describe('a price that is new on the plan (2.8)', () => {
  test.each<[string, Partial<SyncedPrice>, Partial<SyncedSubscription>, string[]]>([
    ['from its start', { start_date: at('2026-03-20') }, {}, ['create new 2026-03-20 open']],
    ['not before the oldest open period', {}, {}, ['create new 2026-03-01 open']],
    ['not before the subscription', {}, { start_date: at('2026-03-15') }, ['create new 2026-03-15 open']],
    ['until the subscription ends', {}, { end_date: at('2026-09-01') }, ['create new 2026-03-01 2026-09-01']],
    ['until its own end', { end_date: at('2026-06-01') }, {}, ['create new 2026-03-01 2026-06-01']],
    ['nothing where it ends before it could begin', { type: 'FIXED', invoice_cadence: 'ADVANCE', end_date: at('2026-04-01') }, {}, []],
    ['a one-time fee', { type: 'FIXED', invoice_cadence: 'ADVANCE', billing_period: 'ONETIME', start_date: at('2026-03-20') }, {}, ['create new 2026-03-20 open']],
    ['not in another currency', { currency: 'eur' }, {}, []],
    ['in the fiat currency of a custom one', {}, { currency: 'tok', default_currency: 'usd' }, ['create new 2026-03-01 open']],
    ['not of another cadence', { billing_period: 'ANNUAL' }, {}, []],
    ['not a shorter one without being named', {}, { cadence: { billing_period: 'QUARTERLY', billing_period_count: 1 } }, []],
    ['a shorter one that is named', {}, { cadence: { billing_period: 'QUARTERLY', billing_period_count: 1 }, include_price_ids: ['new'] }, ['create new 2026-03-01 open']],
    ['not one that is left out of the selection', {}, { include_price_ids: [] }, []],
    ['not one that is named and does not fit', { billing_period: 'ANNUAL' }, { include_price_ids: ['new'] }, []],
    ['not an archived one', { status: 'archived' }, {}, []],
    ['not one that ended now', { end_date: NOW }, {}, []],
  ])('%s', (_title, more, of, expected) => {
    expect(sync([price('new', more)], [], of)).toEqual(expected);
  }); // prettier-ignore

  test('a selection of one version applies to its lineage', () => {
    const prices = [
      price('v1', { end_date: at('2026-03-05') }),
      price('v2', { parent_price_id: 'v1', start_date: at('2026-03-05') }),
      price('other'),
    ];
    expect(sync(prices, [line('v1')], { include_price_ids: ['v1'] })).toEqual([
      'end line_v1 2026-03-05',
      'create v2 2026-03-05 open',
    ]);
  });

  test('lines on prices of others, and of prices without an end, are left alone', () => {
    expect(sync([price('v1')], [line('v1'), line('addon', { entity_type: 'addon' })])).toEqual([]);
  });
});

test('a new line follows only the newest line on an earlier version of its price', () => {
  const prices = [
    price('v1', { end_date: at('2026-02-01') }),
    price('v2', {
      parent_price_id: 'v1',
      start_date: at('2026-02-01'),
      end_date: at('2026-03-20'),
    }),
    price('v3', { parent_price_id: 'v1', start_date: at('2026-03-20') }),
    price('new', { start_date: at('2026-03-20') }),
  ];
  const lines = [
    line('v1', { end_date: at('2026-02-01') }),
    line('v2', { parent_price_id: 'v1' }),
    line('own', { parent_price_id: 'new', entity_type: 'addon' }),
  ];
  const { creates } = planPriceSync(prices, lines, subscription(), NOW);
  expect(creates.map(({ price_id, follows }) => [price_id, follows])).toEqual([
    ['v3', 'line_v2'],
    ['new', null],
  ]);
});
