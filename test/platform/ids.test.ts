import { createIds } from '../../platform/ids.ts';

const RANDOM_PART = /^cust_[0-9A-Z]{10}([0-9A-HJKMNP-TV-Z]{16})$/;

describe('ids', () => {
  test('of one millisecond and of later ones ascend', () => {
    let at = 1_790_000_000_000;
    const ids = createIds({ now: () => at });
    const made = Array.from({ length: 1_000 }, (_, n) => {
      if (n % 3 === 0) at += 1;
      return ids.next('cust');
    });
    expect(made).toEqual([...new Set(made)].sort());
  });

  test('draw each character of their random part as often as any other', () => {
    let at = 1_790_000_000_000;
    const ids = createIds({ now: () => (at += 1) });
    const seen = new Map<string, number>();
    for (let n = 0; n < 10_000; n += 1)
      for (const character of RANDOM_PART.exec(ids.next('cust'))![1]!)
        seen.set(character, (seen.get(character) ?? 0) + 1);
    // 5,000 of each are expected; ten standard deviations are 700.
    expect(seen.size).toBe(32);
    expect(Math.min(...seen.values())).toBeGreaterThan(4_300);
    expect(Math.max(...seen.values())).toBeLessThan(5_700);
  });
});
