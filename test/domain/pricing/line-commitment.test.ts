import { Decimal, decimalText } from '../../../domain/money.ts';
import { commitmentTerms, type CommitmentFields } from '../../../domain/pricing/commitment.ts';
import {
  commitForPeriod,
  commitmentAsMoney,
  commitPerWindow,
  type CommitmentWindow,
  type RatedUnit,
} from '../../../domain/pricing/line-commitment.ts';
import { rate } from '../../../domain/pricing/rate.ts';
import { at, flat, pack, slab, span } from './lines.ts';

const { model } = flat('1');
const terms = (fields: CommitmentFields) => commitmentTerms(fields)!;
const unit = (windowStart: string | null, quantity: string): RatedUnit => ({
  windowStart: windowStart === null ? null : at(windowStart),
  rating: rate(model, new Decimal(quantity)),
});
const day = (date: number, from = '00:00'): CommitmentWindow => {
  const [start, end] = [`2026-01-0${date}`, `2026-01-0${date + 1}`];
  return { grid: span(start, end), service: span(`${start}T${from}`, end) };
};

describe('C as money (6.1)', () => {
  test.each([
    [{ commitment_amount: '100' }, flat('3'), '100'],
    [{ commitment_quantity: '50' }, flat('3'), '150'],
    [{ commitment_quantity: '15' }, slab('10 1', '- 2'), '20'],
    [{ commitment_quantity: '101' }, pack('5', 100), '10'],
  ])('%p', (fields, price, money) => {
    const { commitment, rating } = commitmentAsMoney(terms(fields), price.model);
    expect(decimalText(commitment)).toBe(money);
    expect(rating === null).toBe('commitment_amount' in fields);
  });
});

describe('once for the period', () => {
  const committed = terms({
    commitment_amount: '100',
    commitment_overage_factor: '2',
    commitment_true_up_enabled: true,
  });

  test('all units of the period together', () => {
    const units = [unit('2026-01-01', '60'), unit('2026-01-02', '70')];
    const { commitment, outcome, step } = commitForPeriod(committed, model, units, null);
    expect(decimalText(commitment)).toBe('100');
    expect(decimalText(outcome.charge)).toBe('160');
    expect(step).toEqual({
      step: 'commitment',
      rule: 'billing 6.1',
      type: 'amount',
      promised: '100',
      quantity_rating: null,
      overage_factor: '2',
      true_up_enabled: true,
      share: null,
      windows: null,
      omitted: null,
      usage: '130',
      commitment: '100',
      utilized: '100',
      overage: '60',
      true_up: '0',
      amount: '160',
    });
  });

  test('a share asks for its part; commitment stays the whole', () => {
    const share = { part_ms: 1, whole_ms: 4 };
    const { commitment, outcome, step } = commitForPeriod(
      committed,
      model,
      [unit(null, '10')],
      share,
    );
    expect(decimalText(commitment)).toBe('100');
    expect(decimalText(outcome.commitment)).toBe('25');
    expect(decimalText(outcome.charge)).toBe('25');
    expect(step).toMatchObject({ share, commitment: '25', promised: '100' });
  });

  test('no unit at all is no usage', () => {
    expect(decimalText(commitForPeriod(committed, model, [], null).outcome.trueUp)).toBe('100');
  });
});

describe('for each window', () => {
  const committed = terms({
    commitment_quantity: '5',
    commitment_overage_factor: '2',
    commitment_true_up_enabled: true,
    commitment_windowed: true,
  });
  const apply = (units: RatedUnit[], windows: CommitmentWindow[], prorated = false) =>
    commitPerWindow(committed, model, units, windows, prorated);

  test('units go to the window that holds their start', () => {
    const units = [
      unit('2026-01-01', '2'),
      unit('2026-01-01T23:59', '4'),
      unit('2026-01-03T12:00', '1'),
    ];
    const { outcome, step } = apply(units, [day(1), day(2), day(3)]);
    expect(step.windows!.map((window) => [window.usage, window.amount])).toEqual([
      ['6', '7'],
      ['0', '5'],
      ['1', '5'],
    ]);
    expect(decimalText(outcome.charge)).toBe('17');
    expect(step).toMatchObject({ rule: 'billing 6.2', share: null, type: 'quantity' });
    expect(step.quantity_rating).toMatchObject({ quantity: '5', amount: '5' });
  });

  test('of a cut window its part, only when prorated', () => {
    const windows = [day(1, '12:00'), day(2)];
    const prorated = apply([], windows, true).step.windows!;
    expect(prorated.map((window) => [window.commitment, window.share])).toEqual([
      ['2.5', { part_ms: 43_200_000, whole_ms: 86_400_000 }],
      ['5', null],
    ]);
    const full = apply([], windows).step.windows!;
    expect(full.map((window) => [window.commitment, window.share])).toEqual([
      ['5', null],
      ['5', null],
    ]);
  });

  test('a window may be cut at its end as well', () => {
    const { grid } = day(1);
    const cut = { grid, service: span('2026-01-01', '2026-01-01T06:00') };
    expect(apply([], [cut], true).step.windows![0]).toMatchObject({ commitment: '1.25' });
  });

  test('no windows, no queries', () => {
    expect(decimalText(apply([], []).outcome.charge)).toBe('0');
  });

  test.each([
    ['before the first', '2026-01-01', [day(2)]],
    ['after the last', '2026-01-04', [day(2)]],
    ['between two', '2026-01-02T12:00', [day(1), day(3)]],
  ])('a unit %s is a bug', (_title, start, windows) => {
    expect(() => apply([unit(start, '1')], windows)).toThrow('no window for');
  });

  test('a unit without a window is a bug', () => {
    expect(() => apply([unit(null, '1')], [day(1)])).toThrow('needs windowed usage');
  });
});
