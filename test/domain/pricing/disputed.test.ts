import { decimal, Decimal, decimalText } from '../../../domain/money.ts';
import { dividesEvenly, type BillingPeriod } from '../../../domain/pricing/cadence.ts';
import { applyCommitment, roundCommitment } from '../../../domain/pricing/commitment.ts';
import { changeRows, settleRows, type LineTerms } from '../../../domain/pricing/line-change.ts';
import { at, checked, fixed, fixedLine, span, tiered, usageLine, whole } from './lines.ts';

/**
 * Figures of other systems that our rules deliberately do not follow. Theirs is next to ours, so that a change
 * that drifts to theirs is seen.
 */
describe('days are not counted: ratios of instants instead (5.1)', () => {
  const MARCH = span('2024-03-01', '2024-03-31');
  const seat = (quantity: string, unit: string): LineTerms => ({ price: fixed(unit), quantity });

  /** The 15th of 30 days: 16 are left. Theirs counts the last day in on both sides, 17 of 31. */
  test.each`
    what                 | before               | after               | paid      | credit       | charge      | net          | theirs
    ${'upgrade'}         | ${seat('1', '10')}   | ${seat('1', '20')}  | ${'10'}   | ${'-5.33'}   | ${'10.67'}  | ${'5.34'}    | ${'5.49'}
    ${'downgrade'}       | ${seat('2', '50')}   | ${seat('1', '30')}  | ${'100'}  | ${'-53.33'}  | ${'16'}     | ${'-37.33'}  | ${'-38.39'}
    ${'more seats'}      | ${seat('5', '10')}   | ${seat('10', '10')} | ${'50'}   | ${'-26.67'}  | ${'53.33'}  | ${'26.66'}   | ${'27.42'}
    ${'removal'}         | ${seat('1', '40')}   | ${null}             | ${'40'}   | ${'-21.33'}  | ${null}     | ${'-21.33'}  | ${'-21.94'}
    ${'large downgrade'} | ${seat('1', '1000')} | ${seat('1', '500')} | ${'1000'} | ${'-533.33'} | ${'266.67'} | ${'-266.66'} | ${'-274.20'}
  `('$what: net $net, theirs $theirs', ({ before, after, paid, credit, charge, net, theirs }) => {
    const rows = changeRows({
      before,
      after,
      invoice_cadence: 'ADVANCE',
      effective_at: at('2024-03-15'),
      proration_behavior: 'create_prorations',
      cells: [
        {
          reference: MARCH,
          service: MARCH,
          billed: { gross: decimal(paid), billed: decimal(paid), credited: decimal('0') },
        },
      ],
    }).map(checked);
    const expected = [credit, ...(charge === null ? [] : [charge])];
    expect(rows.map((row) => decimalText(row.amount))).toEqual(expected);
    expect(decimalText(settleRows(rows).net)).toBe(net);
    expect(net).not.toBe(theirs);
  });

  test.each`
    what                                     | amount   | full                                            | service                                         | ours       | theirs
    ${'from 09:00 in Tokyo'}                 | ${'50'}  | ${span('2023-01-31T15:00', '2023-02-28T15:00')} | ${span('2023-02-08T00:00', '2023-02-28T15:00')} | ${'36.83'} | ${'37.5'}
    ${'upgrade at 12:12'}                    | ${'15'}  | ${span('2024-03-01', '2024-04-01')}             | ${span('2024-03-12T12:12', '2024-04-01')}       | ${'9.43'}  | ${'9.68'}
    ${'31 days of a quarter from 10:00'}     | ${'910'} | ${span('2024-04-01', '2024-07-01')}             | ${span('2024-05-20T10:00', '2024-06-20T10:00')} | ${'310'}   | ${'320'}
    ${'the day of the change counts unused'} | ${'50'}  | ${span('2023-02-01', '2023-03-01')}             | ${span('2023-02-08', '2023-03-01')}             | ${'37.5'}  | ${'35.71'}
    ${'a trial that ends at 21:00'}          | ${'35'}  | ${span('2024-03-01', '2024-04-01')}             | ${span('2024-03-11T21:00', '2024-04-01')}       | ${'22.72'} | ${'23.71'}
  `('$what: $ours, theirs $theirs', ({ amount, full, service, ours, theirs }) => {
    const line = fixedLine({
      price: fixed(amount, { currency: 'eur' }),
      cell: { reference: full, cell: service, service },
      proration_behavior: 'create_prorations',
    });
    expect(decimalText(line.amount)).toBe(ours);
    expect(ours).not.toBe(theirs);
  });
});

describe('nothing used costs nothing, also under tiers with flat amounts (2.2)', () => {
  const tiers = ['5 0 100', '10 0 150', '15 10', '- 5'];
  test.each(['VOLUME', 'SLAB'] as const)('%s: 0, theirs the first flat amount of 100', (mode) => {
    expect(decimalText(usageLine({ price: tiered(mode, tiers), rows: whole('0') }).amount)).toBe(
      '0',
    );
  });
});

describe('usage is not rounded before it meets a commitment (6.1)', () => {
  test('10,000 jpy against 8,500.5: a true-up of 1,500, theirs 1,499', () => {
    const outcome = applyCommitment(
      new Decimal('8500.5'),
      new Decimal(10000),
      new Decimal(1),
      true,
    );
    expect(decimalText(roundCommitment(outcome, 'jpy').trueUp)).toBe('1500');
  });
});

describe('a price that is longer than its subscription is refused (3.2)', () => {
  const one = (billing_period: BillingPeriod) => ({ billing_period, billing_period_count: 1 });
  test.each<[BillingPeriod, BillingPeriod]>([
    ['QUARTERLY', 'MONTHLY'],
    ['HALF_YEARLY', 'MONTHLY'],
    ['ANNUAL', 'MONTHLY'],
    ['ANNUAL', 'QUARTERLY'],
    ['WEEKLY', 'DAILY'],
    ['MONTHLY', 'DAILY'],
    ['QUARTERLY', 'DAILY'],
    ['ANNUAL', 'DAILY'],
  ])('%s on %s', (price, subscription) => {
    expect(dividesEvenly(one(price), one(subscription))).toBe(false);
  });
});
