import { buildInvoice } from '../../support/build-invoice.ts';
import { EMPTY_LEDGER } from '../../../domain/invoicing/payment-ledger.ts';
import { amountOff, exclusive, inclusive, line, percentOff, wallet } from './invoice-input.ts';

const draft = { currency: 'usd', invoice_status: 'DRAFT' } as const;
const finalized = { currency: 'usd', invoice_status: 'FINALIZED' } as const;

describe('the worked example of billing 9.3', () => {
  const built = buildInvoice({
    ...finalized,
    lines: [line('usage', '80'), line('flat', '20', { price_type: 'FIXED' })],
    coupons: [amountOff('10'), percentOff('25', { subscription_line_item_id: 'item-usage' })],
    taxes: { rates: [exclusive('8.25')], exemption: null },
    wallets: [wallet('w', '5')],
  });

  test('totals', () => {
    expect(built).toMatchObject({
      subtotal: '100',
      total_discount: '30',
      total_prepaid_credits_applied: '5',
      total_tax: '5.78',
      total: '70.78',
      amount_due: '70.78',
      amount_paid: '0',
      amount_remaining: '70.78',
      overpaid_amount: '0',
      adjustment_amount: '0',
      refunded_amount: '0',
      payment_status: 'PENDING',
      negative_net: '0',
    });
  });

  test('rows', () => {
    expect(
      built.lines.map((row) => [
        row.id,
        row.amount,
        row.line_item_discount,
        row.invoice_level_discount,
        row.prepaid_credits_applied,
      ]),
    ).toEqual([
      ['usage', '80', '20', '7.5', '5'],
      ['flat', '20', '0', '2.5', '0'],
    ]);
  });

  test('what goes with them', () => {
    expect(built.coupon_applications.map((each) => each.discounted_amount)).toEqual(['20', '10']);
    expect(built.taxes.map((tax) => [tax.taxable_amount, tax.tax_amount])).toEqual([
      ['70', '5.78'],
    ]);
    expect(built.tax_summary).toEqual({
      exclusive_tax: '5.78',
      inclusive_tax: '0',
      total_tax: '5.78',
      exemption: null,
    });
    expect(built.wallet_debits).toEqual([{ wallet_id: 'w', amount: '5', credits: '5' }]);
  });
});

describe('an invoice of rows alone', () => {
  test('is their sum', () => {
    expect(buildInvoice({ ...draft, lines: [line('a', '1.10'), line('b', '2.20')] })).toMatchObject(
      {
        subtotal: '3.3',
        total: '3.3',
        amount_due: '3.3',
        amount_remaining: '3.3',
        payment_status: 'PENDING',
        coupon_applications: [],
        taxes: [],
        wallet_debits: [],
        tax_summary: { exclusive_tax: '0', inclusive_tax: '0', total_tax: '0', exemption: null },
      },
    );
  });

  test('of none at all is zero', () => {
    expect(buildInvoice({ ...draft, lines: [] })).toMatchObject({
      subtotal: '0',
      total: '0',
      payment_status: 'PENDING',
      lines: [],
    });
    expect(buildInvoice({ ...finalized, lines: [] }).payment_status).toBe('SUCCEEDED');
  });

  test('other columns of a row pass through', () => {
    const [row] = buildInvoice({
      ...draft,
      lines: [{ ...line('a', '5'), display_name: 'Seats', quantity: '5' }],
    }).lines;
    expect(row).toEqual({
      ...line('a', '5'),
      display_name: 'Seats',
      quantity: '5',
      line_item_discount: '0',
      invoice_level_discount: '0',
      prepaid_credits_applied: '0',
    });
  });

  test.each`
    currency | amount
    ${'usd'} | ${'1.001'}
    ${'jpy'} | ${'1.5'}
    ${'kwd'} | ${'1.0001'}
  `('an amount of $amount $currency is a bug of the rating', ({ currency, amount }) => {
    expect(() => buildInvoice({ ...draft, currency, lines: [line('a', amount)] })).toThrow(
      'is not rounded',
    );
  });
});

describe('the order of computation (billing 9.1)', () => {
  test('prepaid credits do not lower the tax base and never pay exclusive tax', () => {
    const built = buildInvoice({
      ...finalized,
      lines: [line('a', '200')],
      coupons: [amountOff('30')],
      taxes: { rates: [exclusive('2')], exemption: null },
      wallets: [wallet('w', '50')],
    });
    expect([built.total_tax, built.total]).toEqual(['3.4', '123.4']);
    const covered = buildInvoice({
      ...finalized,
      lines: [line('a', '14.27')],
      taxes: { rates: [exclusive('24')], exemption: null },
      wallets: [wallet('w', '21.28')],
    });
    expect([covered.total_prepaid_credits_applied, covered.total]).toEqual(['14.27', '3.42']);
    expect(covered.payment_status).toBe('PENDING');
  });

  test('inclusive tax changes no total', () => {
    const built = buildInvoice({
      ...draft,
      lines: [line('a', '110')],
      taxes: { rates: [inclusive('10'), exclusive('5')], exemption: null },
    });
    expect([built.total, built.total_tax]).toEqual(['115', '15']);
    expect(built.tax_summary).toMatchObject({ inclusive_tax: '10', exclusive_tax: '5' });
  });

  test('discounts come off before the tax', () => {
    const built = buildInvoice({
      ...draft,
      lines: [line('a', '100')],
      coupons: [percentOff('50')],
      taxes: { rates: [exclusive('10')], exemption: null },
    });
    expect([built.total_tax, built.total]).toEqual(['5', '55']);
  });

  test('credits come off the discounted rows', () => {
    const built = buildInvoice({
      ...finalized,
      lines: [line('a', '100')],
      coupons: [percentOff('50')],
      wallets: [wallet('w', '80')],
    });
    expect(built.lines[0]!.prepaid_credits_applied).toBe('50');
    expect(built.total).toBe('0');
    expect(built.payment_status).toBe('SUCCEEDED');
  });
});

describe('rows below zero', () => {
  test('net inside the invoice', () => {
    const built = buildInvoice({
      ...draft,
      lines: [line('new', '66.67'), line('old', '-33.33', { kind: 'credit' })],
    });
    expect([built.subtotal, built.total, built.negative_net]).toEqual(['33.34', '33.34', '0']);
  });

  test('below zero in sum become a credit of the customer (9.3)', () => {
    const built = buildInvoice({
      ...finalized,
      lines: [line('new', '10'), line('old', '-35', { kind: 'credit' })],
      coupons: [percentOff('10')],
      taxes: { rates: [exclusive('10')], exemption: null },
      wallets: [wallet('w', '100')],
    });
    expect(built).toMatchObject({
      subtotal: '-25',
      total_discount: '0',
      total_tax: '0',
      total_prepaid_credits_applied: '0',
      total: '0',
      negative_net: '25',
      payment_status: 'SUCCEEDED',
      wallet_debits: [],
    });
  });

  test('credits never pay more than the invoice asks for', () => {
    const built = buildInvoice({
      ...finalized,
      lines: [line('a', '100'), line('b', '-60', { kind: 'credit' })],
      wallets: [wallet('w', '100')],
    });
    expect([built.total_prepaid_credits_applied, built.total]).toEqual(['40', '0']);
  });

  test('credit rows are in the tax base (5.3)', () => {
    const built = buildInvoice({
      ...draft,
      lines: [line('a', '100'), line('b', '-40', { kind: 'credit' })],
      taxes: { rates: [exclusive('10')], exemption: null },
    });
    expect(built.taxes[0]!.taxable_amount).toBe('60');
  });
});

describe('tax exemption', () => {
  const exemption = { reason: 'exempt', reason_code: 'customer_exempt' } as const;
  test('leaves no rows, and says why', () => {
    const built = buildInvoice({
      ...draft,
      lines: [line('a', '100')],
      taxes: { rates: [exclusive('10')], exemption },
    });
    expect(built.taxes).toEqual([]);
    expect(built.total).toBe('100');
    expect(built.tax_summary.exemption).toEqual(exemption);
  });
});

describe('other currencies', () => {
  test.each`
    currency | amount      | percent     | discount    | tax         | total
    ${'jpy'} | ${'1000'}   | ${'33.333'} | ${'333'}    | ${'67'}     | ${'734'}
    ${'usd'} | ${'10.55'}  | ${'10'}     | ${'1.06'}   | ${'0.95'}   | ${'10.44'}
    ${'kwd'} | ${'10.556'} | ${'10'}     | ${'1.056'}  | ${'0.95'}   | ${'10.45'}
    ${'clf'} | ${'1.2345'} | ${'10'}     | ${'0.1235'} | ${'0.1111'} | ${'1.2221'}
  `('$amount $currency', ({ currency, amount, percent, discount, tax, total }) => {
    const built = buildInvoice({
      ...draft,
      currency,
      lines: [line('a', amount)],
      coupons: [percentOff(percent)],
      taxes: { rates: [exclusive('10')], exemption: null },
    });
    expect([built.total_discount, built.total_tax, built.total]).toEqual([discount, tax, total]);
  });

  test('a custom currency brings its own precision', () => {
    const token = { code: 'tok', symbol: 'T', precision: 0 };
    const built = buildInvoice({
      ...draft,
      currency: token,
      lines: [line('a', '7')],
      coupons: [percentOff('50')],
    });
    expect(built.total_discount).toBe('4');
  });
});

describe('computed again', () => {
  const input = {
    ...draft,
    lines: [line('a', '33.33'), line('b', '66.67')],
    coupons: [percentOff('10'), amountOff('5')],
    taxes: { rates: [exclusive('7.7')], exemption: null },
  };

  test('the same input gives the same invoice', () => {
    expect(buildInvoice(input)).toEqual(buildInvoice(structuredClone(input)));
  });

  test('a removed coupon and tax leave nothing behind', () => {
    const plain = buildInvoice({ ...input, coupons: [], taxes: { rates: [], exemption: null } });
    expect(plain).toEqual(buildInvoice({ ...draft, lines: input.lines }));
  });

  test('the input is not touched', () => {
    const frozen = structuredClone(input);
    buildInvoice(input);
    expect(input).toEqual(frozen);
  });

  test('payments made before stay counted, and what is open never goes below zero', () => {
    const built = buildInvoice({
      ...draft,
      lines: [line('a', '100')],
      coupons: [percentOff('90')],
      ledger: {
        ...EMPTY_LEDGER,
        payments: [{ payment_status: 'SUCCEEDED', amount: '50', payment_method_type: 'OFFLINE' }],
      },
    });
    expect([built.total, built.amount_paid, built.amount_remaining, built.overpaid_amount]).toEqual(
      ['10', '50', '0', '40'],
    );
  });
});
