import { HeldDeliveries, type HeldDelivery } from '../../jobs/held-deliveries.ts';
import type { DueDelivery } from '../../postgres/tables/webhook-deliveries.ts';

let made = 0;
const held = (
  endpoint_id: string,
  tenant_id = `tenant of ${endpoint_id}`,
  failing_since: string | null = null,
): HeldDelivery => ({
  row: { id: `whdel_${(made += 1)}`, endpoint_id, tenant_id, failing_since } as DueDelivery,
  receiver: { url: '', secrets: [], rules: { isProduction: true, allowedHosts: [] } },
});
const several = (count: number, make: () => HeldDelivery) => Array.from({ length: count }, make);
const placesOf = (deliveries: HeldDeliveries, id: string) =>
  [...deliveries.room.endpoints, ...deliveries.room.tenants].find((share) => share.id === id)
    ?.places;

describe('held deliveries', () => {
  test.each`
    what                                     | found                                                                           | begun
    ${'of one endpoint'}                     | ${several(40, () => held('a'))}                                                 | ${32}
    ${'of an endpoint that fails'}           | ${several(40, () => held('a', 't', '2026-01-01'))}                              | ${2}
    ${'of three endpoints of one tenant'}    | ${['a', 'b', 'c'].flatMap((id) => several(40, () => held(id, 't')))}            | ${64}
    ${'of three endpoints of three tenants'} | ${['a', 'b', 'c'].flatMap((id) => several(40, () => held(id)))}                 | ${96}
    ${'of twenty tenants'}                   | ${Array.from({ length: 20 }, (_, n) => several(32, () => held(`${n}`))).flat()} | ${512}
  `('$what: $begun in flight', ({ found, begun }) => {
    const deliveries = new HeldDeliveries();
    deliveries.add(found);
    expect(deliveries.begin()).toHaveLength(begun);
    expect(deliveries.begin()).toHaveLength(0);
    expect(deliveries.size).toBe(found.length);
  });

  test('the end of one makes place for the next of its tenant, in the order in which they were found', () => {
    const deliveries = new HeldDeliveries();
    const found = several(34, () => held('a'));
    deliveries.add(found);
    const begun = deliveries.begin();
    deliveries.end(begun[7]!.row);
    expect(deliveries.begin('tenant of b')).toEqual([]);
    expect(deliveries.begin('tenant of a')).toEqual([found[32]]);
    expect(deliveries.size).toBe(33);
  });

  test('an endpoint that answers may have more waiting, one that does not has only its places', () => {
    const deliveries = new HeldDeliveries();
    deliveries.add([...several(32, () => held('fast')), ...several(20, () => held('dead'))]);
    for (const { row } of deliveries.begin()) if (row.endpoint_id === 'fast') deliveries.end(row);
    expect([placesOf(deliveries, 'fast'), placesOf(deliveries, 'dead')]).toEqual([32 + 48, 12]);
    expect(placesOf(deliveries, 'tenant of fast')).toBe(64 + 48);
    deliveries.add(several(80, () => held('fast')));
    deliveries.begin();
    expect(placesOf(deliveries, 'fast')).toBe(0);
    expect(deliveries.room.limit).toBe(1_024 - 100);
    expect(deliveries.room.ids).toHaveLength(100);
  });

  test('what waits can be given up; what is in flight cannot', () => {
    const deliveries = new HeldDeliveries();
    deliveries.add(several(40, () => held('a')));
    const begun = deliveries.begin();
    deliveries.release(() => true);
    expect([...deliveries.room.ids].sort()).toEqual(begun.map(({ row }) => row.id).sort());
    expect(deliveries.begin()).toEqual([]);
    for (const { row } of begun) deliveries.end(row);
    deliveries.add([]);
    expect(deliveries.room).toEqual({ limit: 1_024, ids: [], endpoints: [], tenants: [] });
  });
});
