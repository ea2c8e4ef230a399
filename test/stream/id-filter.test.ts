import { slotOf, slotScope } from '../../schemas/events/slot.ts';
import { IdFilter } from '../../stream/id-filter.ts';

const scope = slotScope('tenant_a', 'env_a');
const slot = (n: number) => slotOf(scope, `event-${n}`);

describe('id filter', () => {
  test('knows every slot that was added, through every layer it grows', () => {
    const filter = new IdFilter(1);
    const count = 400_000;
    for (let n = 0; n < count; n++) filter.add(slot(n));
    let forgotten = 0;
    for (let n = 0; n < count; n++) if (!filter.mayContain(slot(n))) forgotten++;
    expect(forgotten).toBe(0);
    expect(filter.size).toBe(count);
  });

  test('is right about new slots 98 times in 100, at some 12 to 24 bits a slot', () => {
    const filter = new IdFilter();
    const count = 300_000;
    for (let n = 0; n < count; n++) filter.add(slot(n));
    let wrong = 0;
    for (let n = count; n < count + 50_000; n++) if (filter.mayContain(slot(n))) wrong++;
    expect(wrong / 50_000).toBeLessThan(0.02);
    expect((filter.bytes * 8) / count).toBeLessThan(24);
  });

  test('words read from bytes and slots read from text are the same', () => {
    const filter = new IdFilter();
    const bytes = Buffer.from(slot(1), 'hex');
    filter.addWords(bytes.readUInt32BE(4), bytes.readUInt32BE(8), bytes.readUInt32BE(12));
    expect(filter.mayContain(slot(1))).toBe(true);
    expect(filter.mayContain(slot(2))).toBe(false);
  });
});
