import {
  lateRows,
  rowsToSettle,
  type DiscountedRow,
} from '../../../domain/invoicing/late-usage.ts';

const row = (line: string, amount: string, more: Partial<DiscountedRow> = {}): DiscountedRow => ({
  id: `row_${line}`,
  subscription_id: 'subs_1',
  subscription_line_item_id: line,
  kind: 'base',
  period_start: '2026-03-01T00:00:00.000Z',
  period_end: '2026-04-01T00:00:00.000Z',
  display_name: line,
  amount,
  line_item_discount: '0',
  invoice_level_discount: '0',
  ...more,
});
const shown = (rows: ReturnType<typeof lateRows>) =>
  rows.map((late) => [
    late.display_name,
    late.line_item_id,
    late.difference.toString(),
    late.settled.toString(),
    late.outstanding.toString(),
  ]);

describe('rows whose amounts late usage changes (billing 17.6)', () => {
  const invoice = [row('a', '10'), row('b', '20')];
  test.each`
    name                            | billed              | now                                                     | settled            | expected
    ${'nothing'}                    | ${invoice}          | ${invoice}                                              | ${[]}              | ${[]}
    ${'more, after a discount'}     | ${[row('a', '10')]} | ${[row('a', '20', { line_item_discount: '1' })]}        | ${[]}              | ${[['a', 'row_a', '9', '0', '9']]}
    ${'less'}                       | ${[row('a', '10')]} | ${[row('a', '4')]}                                      | ${[]}              | ${[['a', 'row_a', '-6', '0', '-6']]}
    ${'a row that only now exists'} | ${[row('a', '10')]} | ${[row('a', '10'), row('a', '3', { kind: 'overage' })]} | ${[]}              | ${[['a', null, '3', '0', '3']]}
    ${'settled in part'}            | ${[row('a', '10')]} | ${[row('a', '15')]}                                     | ${[row('a', '2')]} | ${[['a', 'row_a', '5', '2', '3']]}
    ${'settled and gone again'}     | ${[row('a', '10')]} | ${[row('a', '10')]}                                     | ${[row('a', '2')]} | ${[['a', 'row_a', '0', '2', '-2']]}
    ${'a removed row'}              | ${[row('c', '1')]}  | ${[row('c', '5')]}                                      | ${[]}              | ${[]}
  `('$name', ({ billed, now, settled, expected }) => {
    expect(shown(lateRows({ billed, now }, invoice, settled))).toEqual(expected);
  });

  test('an invoice takes what costs more, a credit note what costs less', () => {
    const now = [row('a', '12'), row('b', '15')];
    const rows = lateRows({ billed: invoice, now }, invoice, []);
    expect(shown([...rowsToSettle(rows, 'invoice')])).toEqual([['a', 'row_a', '2', '0', '2']]);
    expect(shown([...rowsToSettle(rows, 'credit_note')])).toEqual([
      ['b', 'row_b', '-5', '0', '-5'],
    ]);
  });
});
