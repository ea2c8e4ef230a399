import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { partitionOf, slotOf, slotScope } from '../../schemas/events/slot.ts';

describe('slot', () => {
  test.each`
    tenant        | environment | id             | slot
    ${'tenant_1'} | ${'env_1'}  | ${'event_1'}   | ${'b236bba81c8abfe8111018d804b69391'}
    ${'tenant_1'} | ${'env_1'}  | ${''}          | ${'f3abf0dfa2aad8bd055b8c614780e1b3'}
    ${'tenant_1'} | ${'env_1e'} | ${'vent_1'}    | ${'c3c0e864b37217d47676e6b23097a4a7'}
    ${'ü'}        | ${'€'}      | ${'😀/注文-1'} | ${'7c19b5874ef6b2fe48cc66b30efe748a'}
  `('of ($tenant, $environment, $id) is $slot, for ever', ({ tenant, environment, id, slot }) => {
    expect(slotOf(slotScope(tenant, environment), id)).toBe(slot);
  });

  test('is SHA-256 over length-prefixed UTF-8, cut to 128 bits', () => {
    const text = fc.string({ unit: 'grapheme', maxLength: 60 });
    fc.assert(
      fc.property(text, text, text, (tenant, environment, id) => {
        const sha = createHash('sha256');
        for (const part of [tenant, environment, id]) {
          const bytes = Buffer.from(part, 'utf8');
          sha.update(`${bytes.length}:`).update(bytes);
        }
        expect(slotOf(slotScope(tenant, environment), id)).toBe(sha.digest('hex').slice(0, 32));
      }),
      { verbose: 1 },
    );
  });
});

describe('partition', () => {
  test.each`
    slot                                  | partitions | partition
    ${'00000000ffffffffffffffffffffffff'} | ${12}      | ${0}
    ${'ffffffff000000000000000000000000'} | ${12}      | ${3}
    ${'0000000d000000000000000000000000'} | ${4}       | ${1}
    ${'ffffffff000000000000000000000000'} | ${1}       | ${0}
  `('of $slot among $partitions is $partition', ({ slot, partitions, partition }) => {
    expect(partitionOf(slot, partitions)).toBe(partition);
  });

  test('slots spread evenly', () => {
    const scope = slotScope('tenant_1', 'env_1');
    const counts = new Array<number>(12).fill(0);
    for (let n = 0; n < 24_000; n++) counts[partitionOf(slotOf(scope, `event_${n}`), 12)]!++;
    expect(Math.min(...counts)).toBeGreaterThan(1_800);
    expect(Math.max(...counts)).toBeLessThan(2_200);
  });
});
