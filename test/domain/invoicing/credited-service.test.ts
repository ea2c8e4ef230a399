import { creditedServices, type ServiceRow } from '../../../domain/invoicing/credited-service.ts';

const service = { period_start: '2026-01-01', period_end: '2026-02-01' };
const row = (line: number, more: Partial<ServiceRow>): ServiceRow =>
  ({
    subscription_line_item_id: `line ${line}`,
    ...service,
    ...{ kind: 'base', amount: '0', tax: '0', change_id: null, invoice_status: 'FINALIZED' },
    ...{ line_item_discount: '0', invoice_level_discount: '0', prepaid_credits_applied: '0' },
    ...more,
  }) as ServiceRow;

/** Each change credits 1.00 of a line and charges 3.00 on the next line; the first line was charged 2.00. */
const chain = (changes: number, first = 0): ServiceRow[] => [
  row(first, { amount: '2' }),
  ...Array.from({ length: changes }, (_, index) => `change ${first + index}`).flatMap(
    (change_id, index) => [
      row(first + index, { kind: 'credit', amount: '-1', change_id }),
      row(first + index + 1, { amount: '3', change_id }),
    ],
  ),
];

describe('services that changes link (money 10.6)', () => {
  test('a chain of changes is one service, a chain apart from it another', () => {
    const rows = [...chain(3), ...chain(1, 10), row(20, { amount: '5' })];
    for (const order of [rows, rows.toReversed()]) {
      const serviceAt = creditedServices(order);
      const at = (line: number) => serviceAt(`line ${line}`, '2026-01-15');
      expect([0, 1, 2, 3].map((line) => at(line)?.left.toString())).toEqual(['8', '8', '8', '8']);
      expect(new Set([0, 1, 2, 3].map((line) => at(line)?.key)).size).toBe(1);
      expect([10, 11].map((line) => at(line)?.left.toString())).toEqual(['4', '4']);
      expect(at(20)).toBeNull();
    }
  });

  test('changes are looked at as often as there are rows', () => {
    const looks = (changes: number) => {
      let count = 0;
      const rows = chain(changes).map((one) =>
        Object.defineProperty({ ...one }, 'change_id', {
          get: () => ((count += 1), one.change_id),
        }),
      );
      creditedServices(rows);
      return count;
    };
    expect(looks(400)).toBeLessThan(3 * looks(200));
  });
});
