import { decimalText } from '../../../domain/money.ts';
import { commitmentTerms, type CommitmentFields } from '../../../domain/pricing/commitment.ts';
import { explainText } from '../../../domain/pricing/explain-text.ts';
import { rateUsageLine } from '../../../domain/pricing/rate-usage-line.ts';
import { commitStretches } from '../../../domain/pricing/stretched-commitment.ts';
import { Explanation } from '../../../schemas/explanation.ts';
import { cellOf, flat, JANUARY, slab, span } from './lines.ts';
import { redo } from './redo-explanation.ts';

const FIRST = span('2026-01-01', '2026-01-11');
const SECOND = span('2026-01-11', '2026-02-01');
const row = (quantity: string) => ({
  quantity,
  event_count: 1,
  window_start: null,
  group: [],
});

const committed = (
  commitment: CommitmentFields,
  [first, second]: readonly [string, string],
  price = flat('1'),
  service = JANUARY,
) => {
  const rated = ([[FIRST, first], [SECOND, second]] as const).flatMap(([stretch, quantity]) =>
    rateUsageLine({
      line: {},
      price,
      aggregation: 'SUM',
      bucket_size: null,
      timezone: 'UTC',
      rows: [row(quantity)],
      cell: cellOf(JANUARY, stretch),
      proration_behavior: 'none',
    }),
  ); // prettier-ignore
  const terms = commitmentTerms(commitment)!;
  return commitStretches(rated, terms, price, cellOf(JANUARY, service), 'none')[0]!;
};

describe('one commitment over the stretches of a charge period (billing 6.2)', () => {
  const hundred = { commitment_amount: '100', commitment_overage_factor: '2' };
  const trueUp = { ...hundred, commitment_true_up_enabled: true };

  test.each`
    commitment                                        | used            | price                  | parts
    ${hundred}                                        | ${['60', '70']} | ${flat('1')}           | ${['160', '100', '60', '0']}
    ${trueUp}                                         | ${['90', '0']}  | ${flat('1')}           | ${['100', '90', '0', '10']}
    ${hundred}                                        | ${['90', '0']}  | ${flat('1')}           | ${['90', '90', '0', '0']}
    ${trueUp}                                         | ${['0', '0']}   | ${flat('1')}           | ${['100', '0', '0', '100']}
    ${hundred}                                        | ${['100', '0']} | ${flat('1')}           | ${['100', '100', '0', '0']}
    ${{ ...hundred, commitment_overage_factor: '1' }} | ${['1.5', '1']} | ${flat('0.003')}       | ${['0.01', '0.01', '0', '0']}
    ${{ commitment_quantity: '15' }}                  | ${['10', '20']} | ${slab('10 1', '- 2')} | ${['40', '20', '20', '0']}
  `('$used under $commitment: $parts', ({ commitment, used, price, parts }) => {
    const line = committed(commitment, used, price);
    const info = line.commitment_info!;
    expect([
      decimalText(line.amount),
      info.computed_commitment_utilized_amount,
      info.computed_overage_amount,
      info.computed_true_up_amount,
    ]).toEqual(parts);
    expect(line.period).toEqual(JANUARY);
    expect(Explanation.parse(line.explanation)).toEqual(line.explanation);
    expect(redo(line.explanation)).toEqual([]);
    expect(explainText(line.explanation)).toContain('Usage of all rows together');
  });

  test('a line that ends in the period is held to its part of the promise', () => {
    const service = span('2026-01-01', '2026-01-17');
    const line = committed(trueUp, ['10', '10'], flat('1'), service);
    expect(decimalText(line.amount)).toBe('51.61');
    expect(line.commitment_info).toMatchObject({ amount: '100', computed_true_up_amount: '31.61' });
  });
});
