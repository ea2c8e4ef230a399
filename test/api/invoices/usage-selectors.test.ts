import type { BilledLine } from '../../../api/billing/computing/billing-sources.ts';
import { moreSpecific, selectorOf } from '../../../api/billing/computing/usage-selectors.ts';

const line = (id: string, meter_id: string | null, filter_values: object): BilledLine =>
  ({
    id,
    price_id: id,
    meter_id,
    price: { filter_values },
    start_date: '2026-01-01T00:00:00.000Z',
    end_date: null,
  }) as unknown as BilledLine;

/** Which lines may take events away from a line (billing 2.5). */
describe('more specific lines', () => {
  const lines = [
    line('rest', 'meter_1', {}),
    line('eu', 'meter_1', { region: ['eu'] }),
    line('fast', 'meter_1', { region: ['us'], tier: ['fast'] }),
    line('other', 'meter_2', { region: ['eu'], tier: ['fast'] }),
    line('fee', null, {}),
  ];

  test.each([
    ['rest', ['eu', 'fast']],
    ['eu', ['fast']],
    ['fast', []],
    ['other', []],
  ])('of %s: %j', (id, expected) => {
    const asked = selectorOf(lines.find((each) => each.id === id)!);
    expect(moreSpecific(lines, asked).map((each) => each.id)).toEqual(expected);
  });

  test('a list is read once, although each of its lines asks', () => {
    let reads = 0;
    const counted = Array.from({ length: 100 }, (_, index) => {
      const each = line(`line_${index}`, 'meter_1', { region: [`r${index}`] });
      return new Proxy(each, {
        get: (target, field) => ((reads += 1), Reflect.get(target, field)),
      });
    });
    for (const each of counted) moreSpecific(counted, selectorOf(each));
    // Once for the selector of the list, and once for its own.
    expect(reads).toBeLessThanOrEqual(2 * 100 * 10);
  });
});
