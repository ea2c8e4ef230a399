import { ofIncluded, othersOf } from '../../web/portal/included-usage.ts';

const usage = {
  items: [
    { meter_id: 'tokens', name: 'Tokens', currency: 'usd', total_cost: '1.5' },
    { meter_id: 'images', name: 'Images', currency: 'usd', total_cost: '0.25' },
    { meter_id: 'tests', name: 'Tests', currency: 'usd', total_cost: '0' },
  ],
};
const feature = (meter_id: string, is_enabled = true, type: 'metered' | 'boolean' = 'metered') => ({
  is_enabled,
  feature: { type, meter_id },
});

describe('usage of what the plans include', () => {
  test.each([
    ['the meters of their features', [feature('tokens')], ['tokens']],
    ['not those that are off', [feature('tokens'), feature('images', false)], ['tokens']],
    [
      'all usage without a metered feature',
      [feature('', true, 'boolean')],
      ['tokens', 'images', 'tests'],
    ],
    ['all usage without features', [], ['tokens', 'images', 'tests']],
  ])('%s', (_, features, meters) => {
    expect(ofIncluded(usage, features).items.map(({ meter_id }) => meter_id)).toEqual(meters);
  });

  test('what is not shown is named and has the rest of the charge', () => {
    expect(othersOf(usage, ofIncluded(usage, [feature('tokens')]))).toEqual([
      { currency: 'usd', names: ['Images'], charge: '0.25' },
    ]);
    const tokens = { items: usage.items.slice(0, 1) };
    const inYen = { ...usage.items[1]!, currency: 'jpy', total_cost: '30' };
    expect(
      othersOf({ items: [...usage.items, inYen] }, tokens).map(({ charge }) => charge),
    ).toEqual(['0.25', '30']);
    expect(othersOf(usage, ofIncluded(usage, []))).toEqual([]);
  });
});
