import {
  addedTaxWindow,
  removedTaxEnd,
  resolveTaxes,
  TAX_LEVELS,
  validateTaxPercentage,
  type TaxAssociation,
} from '../../../domain/invoicing/tax-resolution.ts';
import { refusalText } from '../../support/refusal.ts';

const association = (over: Partial<TaxAssociation> = {}): TaxAssociation => ({
  id: 'ta_1',
  level: 'customer',
  tax_rate_id: 'taxrate_1',
  tax_rate_status: 'ACTIVE',
  percentage_value: '10',
  tax_behavior: 'exclusive',
  priority: 0,
  auto_apply: true,
  currency: null,
  start_date: null,
  end_date: null,
  ...over,
});
const march = {
  tax_treatment: 'taxable' as const,
  currency: 'usd',
  period_start: '2026-03-01T00:00:00.000Z',
  period_end: '2026-04-01T00:00:00.000Z',
};
const rateIds = (associations: readonly TaxAssociation[], invoice = march) =>
  resolveTaxes(invoice, associations).rates.map((rate) => rate.tax_rate_id);

describe('which rates apply (billing 8.1)', () => {
  const oneOfEach = TAX_LEVELS.map((level) => association({ level, tax_rate_id: level }));

  test.each`
    without                                            | applies
    ${[]}                                              | ${'invoice'}
    ${['invoice']}                                     | ${'subscription'}
    ${['invoice', 'subscription']}                     | ${'plan'}
    ${['invoice', 'subscription', 'plan']}             | ${'customer'}
    ${['invoice', 'subscription', 'plan', 'customer']} | ${'tenant'}
  `('the most specific level alone: $applies', ({ without, applies }) => {
    expect(rateIds(oneOfEach.filter(({ level }) => !without.includes(level)))).toEqual([applies]);
  });

  test('all rates of the level, in their order', () => {
    expect(
      rateIds([
        association({ tax_rate_id: 'a' }),
        association({ tax_rate_id: 't', level: 'tenant' }),
        association({ tax_rate_id: 'b' }),
      ]),
    ).toEqual(['a', 'b']);
  });

  test.each`
    why                       | over                                          | applies
    ${'as it is'}             | ${{}}                                         | ${true}
    ${'not automatic'}        | ${{ auto_apply: false }}                      | ${false}
    ${'the rate is inactive'} | ${{ tax_rate_status: 'INACTIVE' }}            | ${false}
    ${'same currency'}        | ${{ currency: 'usd' }}                        | ${true}
    ${'another currency'}     | ${{ currency: 'eur' }}                        | ${false}
    ${'ended before'}         | ${{ end_date: '2026-03-01T00:00:00.000Z' }}   | ${false}
    ${'ends inside'}          | ${{ end_date: '2026-03-01T00:00:00.001Z' }}   | ${true}
    ${'starts inside'}        | ${{ start_date: '2026-03-31T23:59:59.999Z' }} | ${true}
    ${'starts after'}         | ${{ start_date: '2026-04-01T00:00:00.000Z' }} | ${false}
  `('$why: $applies', ({ over, applies }) => {
    expect(rateIds([association(over)])).toEqual(applies ? ['taxrate_1'] : []);
  });

  test('a level whose rates do not apply leaves it to the next', () => {
    expect(
      rateIds([
        association({
          level: 'subscription',
          tax_rate_id: 'ended',
          end_date: '2026-01-01T00:00:00Z',
        }),
        association({ tax_rate_id: 'customer' }),
      ]),
    ).toEqual(['customer']);
  });

  test('a one-off invoice without a period takes the taxes in force', () => {
    const oneOff = { ...march, period_start: null, period_end: null };
    expect(
      resolveTaxes(oneOff, [association({ start_date: '2030-01-01T00:00:00Z' })]).rates,
    ).toHaveLength(1);
  });

  test('of a rate with two windows in the period, the later one counts', () => {
    const [first, second] = ['2026-03-01T00:00:00Z', '2026-03-20T00:00:00Z'];
    const { rates } = resolveTaxes(march, [
      association({ id: 'ta_2', start_date: second }),
      association({ id: 'ta_1', start_date: first, end_date: second }),
    ]);
    expect(rates.map((rate) => rate.tax_association_id)).toEqual(['ta_2']);
  });

  test('a rate carries what the computation needs', () => {
    expect(
      resolveTaxes(march, [
        association({
          id: 'ta_9',
          percentage_value: '7.5',
          tax_behavior: 'inclusive',
          priority: 3,
        }),
      ]),
    ).toEqual({
      exemption: null,
      rates: [
        {
          tax_rate_id: 'taxrate_1',
          tax_association_id: 'ta_9',
          percentage_value: '7.5',
          tax_behavior: 'inclusive',
          priority: 3,
        },
      ],
    });
  });
});

describe('no tax has a reason', () => {
  test('an exempt customer, for every configuration', () => {
    const resolved = resolveTaxes({ ...march, tax_treatment: 'exempt' }, [
      association({ level: 'invoice' }),
    ]);
    expect(resolved.rates).toEqual([]);
    expect(resolved.exemption?.reason_code).toBe('customer_exempt');
    expect(resolved.exemption?.reason).toMatch(/exempt/);
  });

  test('nothing configured', () => {
    const resolved = resolveTaxes(march, []);
    expect(resolved.rates).toEqual([]);
    expect(resolved.exemption?.reason_code).toBe('no_tax_configured');
    expect(resolved.exemption?.reason).toMatch(/No tax rate/);
  });
});

describe('percentages', () => {
  test.each(['0', '0.001', '100'])('%s is accepted', (percentage) => {
    expect(() => validateTaxPercentage(percentage)).not.toThrow();
  });
  test.each(['-0.001', '100.001'])('%s is refused', (percentage) => {
    expect(refusalText(() => validateTaxPercentage(percentage))).toBe(
      'invalid validation_error percentage_value',
    );
  });
});

describe('changes on a subscription (billing 8.1)', () => {
  const at = '2026-03-04T00:00:00.000Z';
  const added = { tax_rate_id: 'taxrate_1', currency: null };

  test('an added rate is in force from now, or from its effective date', () => {
    expect(addedTaxWindow([], added, null, at)).toEqual({ start_date: at, end_date: null });
    const past = '2026-02-01T00:00:00.000Z';
    expect(addedTaxWindow([], added, past, at)).toEqual({ start_date: past, end_date: null });
  });

  test.each`
    why                       | existing                                      | refused
    ${'the same, open'}       | ${{}}                                         | ${true}
    ${'the same, ends later'} | ${{ end_date: '2026-03-04T00:00:00.001Z' }}   | ${true}
    ${'the same, ended'}      | ${{ end_date: '2026-03-04T00:00:00.000Z' }}   | ${false}
    ${'the same, to come'}    | ${{ start_date: '2026-06-01T00:00:00.000Z' }} | ${true}
    ${'another rate'}         | ${{ tax_rate_id: 'taxrate_2' }}               | ${false}
    ${'another currency'}     | ${{ currency: 'eur' }}                        | ${false}
  `('adding beside $why: refused $refused', ({ existing, refused }) => {
    const add = () => addedTaxWindow([association(existing)], added, null, at);
    if (refused) expect(refusalText(add)).toBe('conflict already_exists tax_rate_code');
    else expect(add().start_date).toBe(at);
  });

  test('a removed one ends now, at its effective date, or at its own start when that is later', () => {
    const standing = association({ start_date: '2026-03-01T00:00:00.000Z' });
    expect(removedTaxEnd(standing, null, at)).toBe(at);
    expect(removedTaxEnd(standing, '2026-03-03T00:00:00.000Z', at)).toBe(
      '2026-03-03T00:00:00.000Z',
    );
    expect(removedTaxEnd(standing, '2026-02-01T00:00:00.000Z', at)).toBe(
      '2026-03-01T00:00:00.000Z',
    );
    expect(removedTaxEnd(association(), null, at)).toBe(at);
  });

  test.each(['2026-03-03T00:00:00.000Z', at])('one that ended on %s is refused', (end_date) => {
    expect(refusalText(() => removedTaxEnd(association({ end_date }), null, at))).toBe(
      'invalid invalid_operation end_date',
    );
  });

  test('one that ends later can end sooner', () => {
    expect(removedTaxEnd(association({ end_date: '2026-04-01T00:00:00.000Z' }), null, at)).toBe(at);
  });
});
