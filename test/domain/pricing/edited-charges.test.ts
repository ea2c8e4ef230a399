import fc from 'fast-check';
import { decimal, sum } from '../../../domain/money.ts';
import {
  editedCharges,
  type ChargedInvoice,
  type ChargedRow,
} from '../../../domain/pricing/edited-charges.ts';

const row = (amount: string, more: Partial<ChargedRow> = {}): ChargedRow => ({
  subscription_line_item_id: 'line_a',
  kind: 'base',
  period_start: '2026-04-11T00:00:00.000Z',
  period_end: '2026-05-01T00:00:00.000Z',
  amount,
  line_item_discount: '0',
  invoice_level_discount: '0',
  custom_currency: null,
  ...more,
});
const invoice = (rows: readonly ChargedRow[], exclusive_tax = '0'): ChargedInvoice => ({
  rows,
  exclusive_tax,
});
const changes = (before: ChargedInvoice, after: ChargedInvoice) =>
  editedCharges(before, after).map(
    ({ line_item_id, kind, gross, net, tax }) => `${line_item_id} ${kind} ${gross} ${net} ${tax}`,
  );

describe('what an edit changes in the charges of a change (billing 5.3)', () => {
  test.each<[string, ChargedInvoice, ChargedInvoice, string[]]>([
    ['nothing', invoice([row('10')], '2'), invoice([row('10')], '2'), []],
    ['a lower amount', invoice([row('10')]), invoice([row('4')]), ['line_a base -6 -6 0']],
    ['a removed row', invoice([row('10')], '2'), invoice([]), ['line_a base -10 -10 -2']],
    [
      'a discount',
      invoice([row('10')]),
      invoice([row('10', { line_item_discount: '1', invoice_level_discount: '2' })]),
      ['line_a base 0 -3 0'],
    ],
    [
      'a credit row',
      invoice([row('-5', { kind: 'credit' }), row('10')]),
      invoice([row('-4', { kind: 'credit' }), row('10')]),
      ['line_a credit 1 1 0'],
    ],
    ['a tax that ends', invoice([row('10')], '2'), invoice([row('10')]), ['line_a base 0 0 -2']],
    [
      'a row of no line item',
      invoice([row('10')], '2'),
      invoice([row('10'), row('90', { subscription_line_item_id: null })], '20'),
      [],
    ],
    [
      'an amount in a custom currency',
      invoice([row('10', { custom_currency: { conversion_factor: '0.1' } })]),
      invoice([row('4', { custom_currency: { conversion_factor: '0.1' } })]),
      ['line_a base -60 -60 0'],
    ],
  ])('%s', (_, before, after, expected) => {
    expect(changes(before, after)).toEqual(expected);
  });

  test('two edits change what one edit from the first to the last changes', () => {
    const money = fc.integer({ min: 0, max: 100_000 }).map((cents) => decimal(`${cents}`).div(100));
    const rows = fc.array(
      fc.record({ line: fc.constantFrom('line_a', 'line_b', null), amount: money, off: money }),
      { minLength: 1, maxLength: 4 },
    );
    const drawn = rows.map((drawnRows) => {
      const charged = drawnRows.map(({ line, amount, off }) =>
        row(amount.toFixed(), {
          subscription_line_item_id: line,
          line_item_discount: (off.gt(amount) ? amount : off).toFixed(),
        }),
      );
      const net = sum(
        charged.map((one) => decimal(one.amount).minus(decimal(one.line_item_discount))),
      );
      return invoice(charged, net.times('0.2').toDecimalPlaces(2).toFixed());
    });
    const total = (edits: ReturnType<typeof editedCharges>, field: 'gross' | 'net') =>
      sum(edits.map((edit) => decimal(edit[field])));
    fc.assert(
      fc.property(drawn, drawn, drawn, (first, second, last) => {
        const steps = [...editedCharges(first, second), ...editedCharges(second, last)];
        const whole = editedCharges(first, last);
        expect(total(steps, 'gross').eq(total(whole, 'gross'))).toBe(true);
        expect(total(steps, 'net').eq(total(whole, 'net'))).toBe(true);
      }),
    );
  });
});
