import { costOfOthers, ofIncluded } from '../../web/portal/included-usage.ts';

const usage = {
  items: [
    { meter_id: 'tokens', total_cost: '1.5' },
    { meter_id: 'images', total_cost: '0.25' },
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
    ['all usage without a metered feature', [feature('', true, 'boolean')], ['tokens', 'images']],
    ['all usage without features', [], ['tokens', 'images']],
  ])('%s', (_, features, meters) => {
    expect(ofIncluded(usage, features).items.map(({ meter_id }) => meter_id)).toEqual(meters);
  });

  test('what is not shown costs the rest', () => {
    expect(costOfOthers(usage, ofIncluded(usage, [feature('tokens')]))).toBe('0.25');
    expect(costOfOthers(usage, ofIncluded(usage, []))).toBe('0');
  });
});
