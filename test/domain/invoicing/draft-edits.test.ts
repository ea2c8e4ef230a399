import { buildInvoice } from '../../support/build-invoice.ts';
import {
  assertRecalculable,
  editLines,
  keptDiscounts,
  type LineEdit,
} from '../../../domain/invoicing/draft-edits.ts';
import { refusalOf, refusalText } from '../../support/refusal.ts';
import { amountOff, line, percentOff } from './invoice-input.ts';

type Row = ReturnType<typeof line> & { quantity: string };
const row = (id: string, amount: string, quantity = '1'): Row => ({
  ...line(id, amount),
  quantity,
});
const add = (added: Row): LineEdit<Row> => ({ action: 'add', line: added });
const remove = (id: string): LineEdit<Row> => ({ action: 'remove', id });
const update = (id: string, new_id: string, changes: Partial<Row>): LineEdit<Row> => ({
  action: 'update',
  id,
  new_id,
  changes,
});
const idsAndAmounts = (lines: readonly Row[]) => lines.map(({ id, amount }) => [id, amount]);

describe('edits of a draft (billing 17.6)', () => {
  test('are applied in order', () => {
    const edited = editLines(
      [row('a', '100'), row('b', '50')],
      [add(row('c', '25')), remove('a'), update('b', 'b2', { amount: '60' })],
    );
    expect(idsAndAmounts(edited.lines)).toEqual([
      ['b2', '60'],
      ['c', '25'],
    ]);
    expect(edited.archived_ids).toEqual(['a', 'b']);
    expect([...edited.renamed]).toEqual([['b', 'b2']]);
  });

  test('an update keeps the other fields and the position', () => {
    const { lines } = editLines(
      [row('a', '100', '10'), row('b', '50')],
      [update('a', 'a2', { quantity: '20' })],
    );
    expect(lines).toEqual([
      { ...row('a2', '100', '20'), subscription_line_item_id: 'item-a' },
      row('b', '50'),
    ]);
  });

  test('a row can be added and edited in one request', () => {
    const edited = editLines<Row>(
      [],
      [add(row('a', '1')), update('a', 'b', { amount: '2' }), update('b', 'c', { amount: '3' })],
    );
    expect(idsAndAmounts(edited.lines)).toEqual([['c', '3']]);
    expect(edited.archived_ids).toEqual(['a', 'b']);
  });

  test('the rows that came in are not touched', () => {
    const before = [row('a', '100')];
    editLines(before, [update('a', 'b', { amount: '1' }), add(row('c', '2'))]);
    expect(before).toEqual([row('a', '100')]);
  });

  test.each`
    why                      | edits
    ${'an unknown row'}      | ${[remove('x')]}
    ${'a removed row'}       | ${[remove('a'), remove('a')]}
    ${'a row by its old id'} | ${[update('a', 'b', {}), remove('a')]}
    ${'updating a stranger'} | ${[update('x', 'y', {})]}
  `('refused: $why', ({ edits }) => {
    expect(refusalOf(() => editLines([row('a', '1')], edits)).kind).toBe('not_found');
  });

  test('a refusal names the row', () => {
    expect(refusalOf(() => editLines([row('a', '1')], [remove('x')])).message).toBe(
      'Invoice line item x was not found.',
    );
    expect(refusalOf(() => editLines([row('a', '1')], [])).message).toBe(
      'line_items: must name at least one change',
    );
  });

  test('refused: no edit at all', () => {
    expect(refusalText(() => editLines([row('a', '1')], []))).toBe(
      'invalid validation_error line_items',
    );
  });
});

describe('discounts of an edited draft are kept, as far as the new rows allow', () => {
  const first = buildInvoice({
    currency: 'usd',
    invoice_status: 'DRAFT',
    lines: [line('a', '100'), line('b', '50')],
    coupons: [
      percentOff('10', { coupon_id: 'p', coupon_association_id: 'z' }),
      amountOff('20', { subscription_line_item_id: 'item-a', coupon_id: 'l' }),
    ],
  });
  const again = (
    lines: Parameters<typeof buildInvoice>[0]['lines'],
    renamed = new Map<string, string>(),
  ) =>
    buildInvoice({
      currency: 'usd',
      invoice_status: 'DRAFT',
      lines,
      coupons: keptDiscounts(first.coupon_applications, renamed),
    });

  test('before the edit', () => {
    expect([first.total_discount, first.total]).toEqual(['33', '117']);
  });

  test('nothing edited: the same discounts', () => {
    const same = again([line('a', '100'), line('b', '50')]);
    expect(same.lines).toEqual(first.lines);
    expect(same.total_discount).toBe('33');
    expect(
      same.coupon_applications.map((each) => [
        each.coupon_id,
        each.discount_type,
        each.discount_percentage,
        each.discounted_amount,
      ]),
    ).toEqual([
      ['l', 'fixed', null, '20'],
      ['p', 'percentage', '10', '13'],
    ]);
  });

  test('a larger invoice keeps the amounts, not the percentage', () => {
    expect(again([line('a', '100'), line('b', '50'), line('c', '1000')]).total_discount).toBe('33');
  });

  test('a smaller one clamps them', () => {
    const clamped = again([line('a', '5'), line('b', '3')]);
    expect(
      clamped.lines.map((row) => [row.line_item_discount, row.invoice_level_discount]),
    ).toEqual([
      ['5', '0'],
      ['0', '3'],
    ]);
    expect([clamped.total_discount, clamped.total]).toEqual(['8', '0']);
  });

  test('a row discount follows its row to the new id, also through several updates', () => {
    const renamed = new Map([
      ['a', 'a2'],
      ['a2', 'a3'],
    ]);
    expect(again([line('a3', '100'), line('b', '50')], renamed).lines[0]!.line_item_discount).toBe(
      '20',
    );
  });

  test('a row discount goes when its row goes', () => {
    const without = again([line('b', '50')]);
    expect(without.lines[0]!.line_item_discount).toBe('0');
    expect(without.total_discount).toBe('13');
  });

  test('dates and order of the associations no longer matter', () => {
    expect(keptDiscounts(first.coupon_applications, new Map())).toEqual([
      expect.objectContaining({
        type: 'fixed',
        amount_off: '20',
        percentage_off: null,
        start_date: null,
        end_date: null,
        subscription_line_item_id: null,
        kept: { amount: '20', level: 'line_item', invoice_line_item_ids: new Set(['a']) },
      }),
      expect.objectContaining({
        type: 'percentage',
        amount_off: null,
        percentage_off: '10',
        kept: { amount: '13', level: 'invoice', invoice_line_item_ids: new Set(['a', 'b']) },
      }),
    ]);
  });

  test('a discount never moves to a row that it did not discount: the next one applies to the same amount', () => {
    const lines = [
      line('a', '1', {
        subscription_id: 'parent',
        period_start: '2026-02-01T00:00:00.000Z',
        period_end: '2026-03-01T00:00:00.000Z',
      }),
      line('b', '1', {
        subscription_id: 'child',
        period_start: '2026-01-01T00:00:00.000Z',
        period_end: '2026-02-01T00:00:00.000Z',
      }),
    ];
    const before = buildInvoice({
      currency: 'jpy',
      invoice_status: 'DRAFT',
      lines,
      coupons: [
        amountOff('1', {
          coupon_id: 'january',
          start_date: '2026-01-01T00:00:00.000Z',
          end_date: '2026-02-01T00:00:00.000Z',
        }),
        amountOff('1', { coupon_id: 'parent', subscription_id: 'parent' }),
      ],
    });
    const after = buildInvoice({
      currency: 'jpy',
      invoice_status: 'DRAFT',
      lines,
      coupons: keptDiscounts(before.coupon_applications, new Map()),
    });
    expect(before.total_discount).toBe('2');
    expect(after.total_discount).toBe('2');
  });

  test('a discount of one subscription stays with its rows', () => {
    const merged = buildInvoice({
      currency: 'usd',
      invoice_status: 'DRAFT',
      lines: [
        line('a', '100', { subscription_id: 'one' }),
        line('b', '100', { subscription_id: 'two' }),
      ],
      coupons: [percentOff('10', { subscription_id: 'two' })],
    });
    const kept = buildInvoice({
      currency: 'usd',
      invoice_status: 'DRAFT',
      lines: [
        line('a', '100', { subscription_id: 'one' }),
        line('b', '90', { subscription_id: 'two' }),
      ],
      coupons: keptDiscounts(merged.coupon_applications, new Map()),
    });
    expect(kept.lines.map((row) => row.invoice_level_discount)).toEqual(['0', '10']);
  });
});

describe('recalculation (billing 17.6)', () => {
  const invoice = {
    invoice_type: 'SUBSCRIPTION',
    invoice_status: 'FINALIZED',
    recalculated_invoice_id: null,
  };
  test.each(['FINALIZED', 'VOIDED'])('%s', (invoice_status) => {
    expect(() => assertRecalculable({ ...invoice, invoice_status })).not.toThrow();
  });
  test.each`
    why                      | over                                                              | path
    ${'a draft'}             | ${{ invoice_status: 'DRAFT' }}                                    | ${'invoice_status'}
    ${'a skipped one'}       | ${{ invoice_status: 'SKIPPED' }}                                  | ${'invoice_status'}
    ${'a one-off'}           | ${{ invoice_type: 'ONE_OFF' }}                                    | ${'invoice_type'}
    ${'replaced before'}     | ${{ recalculated_invoice_id: 'inv_2' }}                           | ${'recalculated_invoice_id'}
    ${'voided and replaced'} | ${{ invoice_status: 'VOIDED', recalculated_invoice_id: 'inv_2' }} | ${'recalculated_invoice_id'}
  `('refused: $why', ({ over, path }) => {
    expect(refusalText(() => assertRecalculable({ ...invoice, ...over }))).toBe(
      `invalid invalid_operation ${path}`,
    );
  });
});
