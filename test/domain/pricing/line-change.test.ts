import { decimalText, Decimal } from '../../../domain/money.ts';
import { billedWindow, capCredit, creditedTax } from '../../../domain/pricing/credit.ts';
import {
  changeKey,
  changeRows,
  settleRows,
  type BilledCell,
  type LineChange,
  type LineTerms,
} from '../../../domain/pricing/line-change.ts';
import type { RatedLine } from '../../../domain/pricing/rated-line.ts';
import { APRIL, at, checked, fixed, flat, span, tiered } from './lines.ts';

const terms = (unit: string, quantity = '1'): LineTerms => ({ price: fixed(unit), quantity });
const billed = (amount: string, credited = '0', gross = amount) => ({
  gross: new Decimal(gross),
  billed: new Decimal(amount),
  credited: new Decimal(credited),
});
const cell = (amount: string, credited = '0'): BilledCell => ({
  reference: APRIL,
  service: APRIL,
  billed: billed(amount, credited),
});

const rowsOf = (change: Partial<LineChange>): readonly RatedLine[] =>
  changeRows({
    before: null,
    after: null,
    invoice_cadence: 'ADVANCE',
    effective_at: at('2026-04-13'),
    proration_behavior: 'create_prorations',
    cells: [{ reference: APRIL, service: APRIL }],
    ...change,
  }).map(checked);
const text = (rows: readonly RatedLine[]) =>
  rows.map((row) => `${row.kind} ${decimalText(row.amount)}`);
const net = (rows: readonly RatedLine[]) => decimalText(settleRows(rows).net);

describe('a change of a fee that was paid in advance (5.2, 5.3, 14.1)', () => {
  test('10 to 14 seats at 20.00 with 18 of 30 days left: -120.00 and +168.00, net 48.00', () => {
    const rows = rowsOf({
      before: terms('20', '10'),
      after: terms('20', '14'),
      cells: [cell('200')],
    });
    expect(text(rows)).toEqual(['credit -120', 'base 168']);
    expect(net(rows)).toBe('48');
    expect(rows.map((row) => row.period)).toEqual([
      span('2026-04-13', '2026-05-01'),
      span('2026-04-13', '2026-05-01'),
    ]);
    expect(rows.map((row) => decimalText(row.quantity))).toEqual(['10', '14']);
  });

  test('50.00 to 100.00 with 20 days left: +66.67 and -33.33, net 33.34; netting first would say 33.33', () => {
    const rows = rowsOf({
      before: terms('50'),
      after: terms('100'),
      effective_at: at('2026-04-11'),
      cells: [cell('50')],
    });
    expect(text(rows)).toEqual(['credit -33.33', 'base 66.67']);
    expect(net(rows)).toBe('33.34');
  });

  test('10 to 14 after 10 days, 14 to 8 after 20: 213.34 in all, one cent from exact', () => {
    const first = rowsOf({
      before: terms('20', '10'),
      after: terms('20', '14'),
      effective_at: at('2026-04-11'),
      cells: [cell('200')],
    });
    const second = rowsOf({
      before: terms('20', '14'),
      after: terms('20', '8'),
      effective_at: at('2026-04-21'),
      cells: [
        {
          reference: APRIL,
          service: span('2026-04-11', '2026-05-01'),
          billed: billed('186.67'),
        },
      ],
    });
    expect(text([...first, ...second])).toEqual([
      'credit -133.33',
      'base 186.67',
      'credit -93.33',
      'base 53.33',
    ]);
    expect(new Decimal(200).plus(net(first)).plus(net(second)).toFixed()).toBe('213.34');
  });

  test('added: only a charge; removed: only a credit', () => {
    expect(text(rowsOf({ after: terms('20'), effective_at: at('2026-04-11') }))).toEqual([
      'base 13.33',
    ]);
    const removed = rowsOf({
      before: terms('20'),
      effective_at: at('2026-04-11'),
      cells: [cell('20')],
    });
    expect(text(removed)).toEqual(['credit -13.33']);
    expect(decimalText(removed[0]!.unrounded)).toBe('-13.33333333333333333333333333333333333333');
  });

  test('up and down again at one instant is nothing', () => {
    const up = rowsOf({ before: terms('20', '3'), after: terms('20', '5'), cells: [cell('60')] });
    const rest = span('2026-04-13', '2026-05-01');
    const down = rowsOf({
      before: terms('20', '5'),
      after: terms('20', '3'),
      cells: [{ reference: APRIL, service: rest, billed: billed('60') }],
    });
    expect(net([...up, ...down])).toBe('0');
  });

  test('tiers and packages are prorated as a whole', () => {
    const price = tiered('SLAB', ['10 1', '- 0.5 3'], { type: 'FIXED' });
    const rows = rowsOf({
      before: { price, quantity: '12' },
      effective_at: at('2026-04-16'),
      cells: [cell('14')],
    });
    expect(text(rows)).toEqual(['credit -7']);
  });

  test('every cell of the billing period that was paid in advance is changed', () => {
    const may = span('2026-05-01', '2026-06-01');
    const rows = rowsOf({
      before: terms('30'),
      after: terms('60'),
      effective_at: at('2026-04-16'),
      cells: [
        {
          reference: span('2026-03-01', '2026-04-01'),
          service: span('2026-03-01', '2026-04-01'),
          billed: billed('30'),
        },
        cell('30'),
        { reference: may, service: may, billed: billed('30') },
      ],
    });
    expect(text(rows)).toEqual(['credit -15', 'base 30', 'credit -30', 'base 60']);
    expect(rows[2]!.period).toEqual(may);
  });

  test('at the end of the period nothing is left, one millisecond before there is nothing to round', () => {
    const change = { before: terms('20'), after: terms('40'), cells: [cell('20')] };
    expect(rowsOf({ ...change, effective_at: APRIL.end })).toEqual([]);
    expect(text(rowsOf({ ...change, effective_at: '2026-04-30T23:59:59.999Z' }))).toEqual([
      'credit 0',
      'base 0',
    ]);
    expect(text(rowsOf({ ...change, effective_at: APRIL.start }))).toEqual([
      'credit -20',
      'base 40',
    ]);
  });

  test.each<[string, Partial<LineChange>]>([
    ['none: the new amount is billed from the next period', { proration_behavior: 'none' }],
    ['ARREAR: each version pays its slice at the end', { invoice_cadence: 'ARREAR' }],
    ['USAGE is never prorated', { before: null, after: { price: flat('20'), quantity: '0' } }],
    ['no cell was billed', { cells: [] }],
    ['nothing before and nothing after', { before: null, after: null }],
  ])('no rows: %s', (_title, change) => {
    const rows = rowsOf({
      before: terms('10'),
      after: terms('20'),
      cells: [cell('10')],
      ...change,
    });
    expect(rows).toEqual([]);
    expect(settleRows(rows)).toEqual({ action: 'none', net: new Decimal(0) });
  });

  test('the currency rounds each row', () => {
    const yen = { price: fixed('1000', { currency: 'jpy' }), quantity: '1' };
    const rows = rowsOf({ before: yen, effective_at: at('2026-04-11'), cells: [cell('1000')] });
    expect(text(rows)).toEqual(['credit -667']);
    const tokens = { code: 'tok', symbol: 'T', precision: 1 };
    const custom = rowsOf({ after: terms('1'), effective_at: at('2026-04-11'), currency: tokens });
    expect(text(custom)).toEqual(['base 0.7']);
    expect(custom[0]!.explanation.currency).toBe('tok');
  });
});

describe('a credit is at most what was paid (5.3)', () => {
  test.each`
    potential | paid     | before   | credit
    ${'100'}  | ${'200'} | ${'50'}  | ${'100'}
    ${'100'}  | ${'200'} | ${'180'} | ${'20'}
    ${'100'}  | ${'200'} | ${'200'} | ${'0'}
    ${'100'}  | ${'200'} | ${'250'} | ${'0'}
    ${'-50'}  | ${'200'} | ${'50'}  | ${'0'}
    ${'0'}    | ${'200'} | ${'50'}  | ${'0'}
    ${'100'}  | ${'0'}   | ${'0'}   | ${'0'}
  `(
    '$potential wanted, $paid paid, $before back: $credit',
    ({ potential, paid, before, credit }) => {
      expect(capCredit(new Decimal(potential), billed(paid, before)).toFixed()).toBe(credit);
    },
  );

  test('100.00 with a coupon of 50%, cancelled half-way: 25.00, not 50.00', () => {
    const window = billedWindow([row('base', '100', { line_item_discount: '50' })]);
    const rows = rowsOf({
      before: terms('100'),
      effective_at: at('2026-04-16'),
      cells: [{ reference: APRIL, service: APRIL, billed: window }],
    });
    expect(text(rows)).toEqual(['credit -25']);
    expect(decimalText(rows[0]!.unrounded)).toBe('-25');
  });

  test.each`
    gross    | net      | before  | credit
    ${'100'} | ${'100'} | ${'0'}  | ${'50'}
    ${'100'} | ${'99'}  | ${'0'}  | ${'49.5'}
    ${'100'} | ${'0'}   | ${'0'}  | ${'0'}
    ${'100'} | ${'50'}  | ${'40'} | ${'10'}
    ${'30'}  | ${'20'}  | ${'0'}  | ${'20'}
    ${'0'}   | ${'0'}   | ${'0'}  | ${'0'}
    ${'100'} | ${'33'}  | ${'0'}  | ${'16.5'}
  `('$net left of $gross, half of 100.00 unused, $before back: $credit', (row) => {
    const rows = rowsOf({
      before: terms('100'),
      effective_at: at('2026-04-16'),
      cells: [{ reference: APRIL, service: APRIL, billed: billed(row.net, row.before, row.gross) }],
    });
    expect(decimalText(rows[0]!.amount.abs())).toBe(row.credit);
  });

  test('a line that was never billed gets nothing back', () => {
    expect(text(rowsOf({ before: terms('20') }))).toEqual(['credit 0']);
  });

  test('the credits of a window add up to what was paid for it and no more', () => {
    const first = rowsOf({
      before: terms('20'),
      effective_at: at('2026-04-11'),
      cells: [cell('20', '15')],
    });
    expect(text(first)).toEqual(['credit -5']);
  });
});

const row = (
  kind: RatedLine['kind'],
  amount: string,
  more: Partial<Parameters<typeof billedWindow>[0][number]> = {},
) => ({
  kind,
  amount,
  line_item_discount: '0',
  invoice_level_discount: '0',
  invoice_status: 'FINALIZED',
  ...more,
});

describe('what was billed for a service window (5.3)', () => {
  test('is net of both discounts, with charges of earlier changes, and without voided rows', () => {
    const window = billedWindow([
      row('base', '100', { line_item_discount: '20', invoice_level_discount: '7.50' }),
      row('base', '30'),
      row('overage', '5'),
      row('credit', '-12'),
      row('base', '999', { invoice_status: 'VOIDED' }),
      row('credit', '-999', { invoice_status: 'VOIDED' }),
    ]);
    expect(window).toEqual({
      gross: new Decimal(135),
      billed: new Decimal('107.5'),
      credited: new Decimal(12),
    });
  });

  test('of no rows is nothing', () => {
    const nothing = new Decimal(0);
    expect(billedWindow([])).toEqual({ gross: nothing, billed: nothing, credited: nothing });
  });
});

describe('exclusive tax goes back with a credit, in the same proportion (5.3)', () => {
  const back = (
    credit: string,
    window: ReturnType<typeof billed>,
    charged: string,
    credited = '0',
    currency = 'usd',
    factor = '1',
  ) =>
    creditedTax(
      new Decimal(credit),
      window,
      { charged: new Decimal(charged), credited: new Decimal(credited) },
      { currency, factor: new Decimal(factor) },
    ).toFixed();

  test.each`
    credit     | paid     | before     | tax        | taxBack   | back
    ${'50'}    | ${'100'} | ${'0'}     | ${'20'}    | ${'0'}    | ${'10'}
    ${'33.33'} | ${'100'} | ${'0'}     | ${'20'}    | ${'0'}    | ${'6.67'}
    ${'100'}   | ${'100'} | ${'0'}     | ${'20'}    | ${'0'}    | ${'20'}
    ${'50'}    | ${'100'} | ${'50'}    | ${'20.01'} | ${'10'}   | ${'10.01'}
    ${'0'}     | ${'100'} | ${'0'}     | ${'20'}    | ${'0'}    | ${'0'}
    ${'0'}     | ${'0'}   | ${'0'}     | ${'0'}     | ${'0'}    | ${'0'}
    ${'10'}    | ${'100'} | ${'0'}     | ${'20'}    | ${'19'}   | ${'1'}
    ${'10'}    | ${'100'} | ${'0'}     | ${'20'}    | ${'25'}   | ${'0'}
    ${'0'}     | ${'100'} | ${'100'}   | ${'20'}    | ${'10'}   | ${'0'}
    ${'33.34'} | ${'100'} | ${'66.66'} | ${'10'}    | ${'6.66'} | ${'3.34'}
    ${'50'}    | ${'100'} | ${'0'}     | ${'0'}     | ${'0'}    | ${'0'}
  `(
    '$credit of $paid with $tax tax: $back',
    ({ credit, paid, before, tax, taxBack, back: expected }) => {
      expect(back(credit, billed(paid, before), tax, taxBack)).toBe(expected);
    },
  );

  test('rounds to the currency', () => {
    expect(back('333', billed('1000'), '100', '0', 'jpy')).toBe('33');
    expect(back('0.33', billed('1'), '0.1', '0', 'usd', '100')).toBe('0.033');
    expect(back('0.33', billed('1'), '0.1', '0', 'jpy', '100')).toBe('0.03');
  });

  test('a credit beyond what was billed is a bug', () => {
    expect(() => back('101', billed('100'), '20')).toThrow('a credit beyond what was billed');
    expect(() => back('-1', billed('100'), '20')).toThrow('a credit beyond what was billed');
  });
});

describe('one operation is settled as a whole (5.3)', () => {
  const settle = (...amounts: string[]) => {
    const { action, net: sum } = settleRows(
      amounts.map((amount) => ({ amount: new Decimal(amount) })),
    );
    return `${action} ${decimalText(sum)}`;
  };
  test.each([
    [['-120', '168'], 'invoice 48'],
    [['0.01'], 'invoice 0.01'],
    [['-93.33', '53.33'], 'wallet_credit -40'],
    [['-0.01'], 'wallet_credit -0.01'],
    [['-10', '10'], 'none 0'],
    [[], 'none 0'],
  ])('%p: %s', (amounts, settled) => {
    expect(settle(...amounts)).toBe(settled);
  });
});

describe('the key of an operation (5.3)', () => {
  const action = (line_item_id: string, effective = '2026-04-11', name = 'update') => ({
    line_item_id,
    action: name,
    effective_at: at(effective),
  });

  test('does not depend on the order of its actions', () => {
    expect(changeKey('subs_1', [action('a'), action('b')])).toBe(
      changeKey('subs_1', [action('b'), action('a')]),
    );
  });

  test('differs by subscription, line, action and instant', () => {
    const keys = [
      changeKey('subs_1', [action('a')]),
      changeKey('subs_2', [action('a')]),
      changeKey('subs_1', [action('b')]),
      changeKey('subs_1', [action('a', '2026-04-12')]),
      changeKey('subs_1', [action('a', '2026-04-11', 'remove')]),
      changeKey('subs_1', [action('a'), action('a')]),
      changeKey('subs_1', []),
    ];
    expect(new Set(keys).size).toBe(keys.length);
  });

  test('no text can be mistaken for another', () => {
    const left = changeKey('s', [{ line_item_id: 'a","b', action: 'c', effective_at: 'd' }]);
    const right = changeKey('s', [{ line_item_id: 'a', action: 'b","c', effective_at: 'd' }]);
    expect(left).not.toBe(right);
  });
});
