import { computeTaxes, taxSummary } from '../../../domain/invoicing/taxes.ts';
import { decimal } from '../../../domain/money.ts';
import { exclusive, inclusive } from './invoice-input.ts';

describe('amounts (billing 8.2)', () => {
  test.each`
    base        | currency | rates                                                     | taxes                    | inclusiveTax | exclusiveTax | net
    ${'100'}    | ${'usd'} | ${[]}                                                     | ${[]}                    | ${'0'}       | ${'0'}       | ${null}
    ${'70'}     | ${'usd'} | ${[exclusive('8.25')]}                                    | ${['5.78']}              | ${'0'}       | ${'5.78'}    | ${'70'}
    ${'121'}    | ${'usd'} | ${[inclusive('21')]}                                      | ${['21']}                | ${'21'}      | ${'0'}       | ${'100'}
    ${'119'}    | ${'usd'} | ${[inclusive('12'), inclusive('7')]}                      | ${['12', '7']}           | ${'19'}      | ${'0'}       | ${'100'}
    ${'110'}    | ${'usd'} | ${[inclusive('10'), exclusive('5')]}                      | ${['10', '5']}           | ${'10'}      | ${'5'}       | ${'100'}
    ${'118'}    | ${'usd'} | ${[inclusive('18')]}                                      | ${['18']}                | ${'18'}      | ${'0'}       | ${'100'}
    ${'100.05'} | ${'usd'} | ${[exclusive('9'), exclusive('9')]}                       | ${['9', '9']}            | ${'0'}       | ${'18'}      | ${'100.05'}
    ${'99.99'}  | ${'usd'} | ${[exclusive('18'), exclusive('2.5')]}                    | ${['18', '2.5']}         | ${'0'}       | ${'20.5'}    | ${'99.99'}
    ${'1000'}   | ${'jpy'} | ${[exclusive('8.25')]}                                    | ${['83']}                | ${'0'}       | ${'83'}      | ${'1000'}
    ${'10.556'} | ${'kwd'} | ${[exclusive('5')]}                                       | ${['0.528']}             | ${'0'}       | ${'0.528'}   | ${'10.556'}
    ${'10.625'} | ${'kwd'} | ${[exclusive('100')]}                                     | ${['10.625']}            | ${'0'}       | ${'10.625'}  | ${'10.625'}
    ${'0'}      | ${'usd'} | ${[exclusive('10'), inclusive('10')]}                     | ${['0', '0']}            | ${'0'}       | ${'0'}       | ${'0'}
    ${'100'}    | ${'usd'} | ${[exclusive('0')]}                                       | ${['0']}                 | ${'0'}       | ${'0'}       | ${'100'}
    ${'100'}    | ${'usd'} | ${[inclusive('0')]}                                       | ${['0']}                 | ${'0'}       | ${'0'}       | ${'100'}
    ${'0.02'}   | ${'usd'} | ${[inclusive('100'), inclusive('100'), inclusive('100')]} | ${['0.01', '0.01', '0']} | ${'0.02'}    | ${'0'}       | ${'0'}
  `(
    '$base $currency: $taxes',
    ({ base, currency, rates, taxes, inclusiveTax, exclusiveTax, net }) => {
      const computed = computeTaxes(decimal(base), rates, currency);
      expect(computed.rows.map((row) => row.tax_amount)).toEqual(taxes);
      expect(computed.inclusive.toFixed()).toBe(inclusiveTax);
      expect(computed.exclusive.toFixed()).toBe(exclusiveTax);
      expect(computed.base.toFixed()).toBe(base);
      expect(computed.rows.every((row) => row.taxable_amount === net)).toBe(true);
    },
  );

  test('half a cent is rounded away from zero', () => {
    const [row] = computeTaxes(decimal('10.50'), [exclusive('0.0476190476190476')], 'usd').rows;
    expect(row!.tax_amount).toBe('0');
    const [half] = computeTaxes(decimal('0.10'), [exclusive('5')], 'usd').rows;
    expect(half!.tax_amount).toBe('0.01');
  });

  test('no rate falls on another: two of 10% exclusive are 20%', () => {
    const { exclusive: tax } = computeTaxes(
      decimal('100'),
      [exclusive('10'), exclusive('10')],
      'usd',
    );
    expect(tax.toFixed()).toBe('20');
  });
});

describe('rows', () => {
  test('are listed highest priority first, equal ones as given (billing 8.1)', () => {
    const { rows } = computeTaxes(
      decimal('100'),
      [
        exclusive('1', { priority: 1, tax_rate_id: 'low' }),
        exclusive('2', { priority: 100, tax_rate_id: 'high' }),
        inclusive('3', { priority: 50, tax_rate_id: 'middle-a' }),
        exclusive('4', { priority: 50, tax_rate_id: 'middle-b' }),
      ],
      'usd',
    );
    expect(rows.map((row) => row.tax_rate_id)).toEqual(['high', 'middle-a', 'middle-b', 'low']);
  });

  test('priority decides the order and no amount', () => {
    const rates = [inclusive('12', { priority: 1 }), exclusive('7', { priority: 2 })];
    const amounts = computeTaxes(decimal('50'), rates, 'usd').rows.map((row) => row.tax_amount);
    const swapped = computeTaxes(
      decimal('50'),
      [inclusive('12', { priority: 2 }), exclusive('7', { priority: 1 })],
      'usd',
    ).rows.map((row) => row.tax_amount);
    expect(swapped).toEqual(amounts.toReversed());
  });

  test('carry what the record needs', () => {
    const { rows } = computeTaxes(
      decimal('110'),
      [inclusive('10', { tax_rate_id: 'taxrate_1', tax_association_id: 'ta_1' })],
      'usd',
    );
    expect(rows).toEqual([
      {
        tax_rate_id: 'taxrate_1',
        tax_association_id: 'ta_1',
        tax_behavior: 'inclusive',
        percentage_value: '10',
        taxable_amount: '100',
        tax_amount: '10',
      },
    ]);
  });
});

test('the summary', () => {
  const taxes = computeTaxes(decimal('110'), [inclusive('10'), exclusive('5')], 'usd');
  expect(taxSummary(taxes, null)).toEqual({
    exclusive_tax: '5',
    inclusive_tax: '10',
    total_tax: '15',
    exemption: null,
  });
  const exempt = { reason: 'because', reason_code: 'customer_exempt' } as const;
  expect(taxSummary(computeTaxes(decimal('110'), [], 'usd'), exempt)).toEqual({
    exclusive_tax: '0',
    inclusive_tax: '0',
    total_tax: '0',
    exemption: exempt,
  });
});
