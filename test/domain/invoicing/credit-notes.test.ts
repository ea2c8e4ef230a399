import { PAYMENT_STATUSES } from '../../../schemas/words.ts';
import {
  checkCreditNote,
  creditCapacity,
  creditNoteContent,
  creditNoteType,
  refundTarget,
  TAX_LINE,
  type CreditableInvoice,
  type StoredCreditNote,
} from '../../../domain/invoicing/credit-notes.ts';
import { refusalOf, refusalText } from '../../support/refusal.ts';

const line = (id: string, amount: string, off = '0', share = '0') => ({
  id,
  amount,
  line_item_discount: off,
  invoice_level_discount: share,
});
const unpaid = (over: Partial<CreditableInvoice> = {}): CreditableInvoice => ({
  id: 'inv_1',
  currency: 'usd',
  invoice_status: 'FINALIZED',
  payment_status: 'PENDING',
  total: '100',
  adjustment_amount: '0',
  amount_paid: '0',
  refunded_amount: '0',
  refunds_in_flight: '0',
  exclusive_tax: '0',
  lines: [line('a', '60'), line('b', '40')],
  ...over,
});
const paid = (over: Partial<CreditableInvoice> = {}) =>
  unpaid({ payment_status: 'SUCCEEDED', amount_paid: '100', ...over });
const credit = (...pairs: [string, string][]) =>
  pairs.map(([invoice_line_item_id, amount]) => ({ invoice_line_item_id, amount }));
const note = (
  credit_note_status: StoredCreditNote['credit_note_status'],
  ...pairs: [string, string][]
): StoredCreditNote => ({ credit_note_status, line_items: credit(...pairs) });

describe('the type follows from the invoice (money 10.2)', () => {
  const types: Record<string, string | null> = {
    SUCCEEDED: 'REFUND',
    OVERPAID: 'REFUND',
    PARTIALLY_REFUNDED: 'REFUND',
    PENDING: 'ADJUSTMENT',
    INITIATED: 'ADJUSTMENT',
    PROCESSING: 'ADJUSTMENT',
    FAILED: 'ADJUSTMENT',
    REFUNDED: null,
    VOIDED: null,
  };
  test.each(PAYMENT_STATUSES)('%s', (status) => {
    const type = types[status];
    if (type === null) {
      const refusal = refusalOf(() => creditNoteType(status));
      expect(refusal.code).toBe('invalid_operation');
      expect(refusal.details[0]).toMatchObject({ path: 'payment_status', code: 'invalid_state' });
      expect(refusal.message).toContain(status);
    } else expect(creditNoteType(status)).toBe(type);
  });

  test('a requested type must be the same', () => {
    expect(creditNoteType('PENDING', 'ADJUSTMENT')).toBe('ADJUSTMENT');
    expect(creditNoteType('SUCCEEDED', 'REFUND')).toBe('REFUND');
    expect(refusalText(() => creditNoteType('PENDING', 'REFUND'))).toBe(
      'invalid validation_error credit_note_type',
    );
    expect(refusalText(() => creditNoteType('OVERPAID', 'ADJUSTMENT'))).toBe(
      'invalid validation_error credit_note_type',
    );
  });
});

describe('the target (money 10.8)', () => {
  test.each`
    type            | requested           | target
    ${'REFUND'}     | ${null}             | ${'PREPAID_WALLET'}
    ${'REFUND'}     | ${'PREPAID_WALLET'} | ${'PREPAID_WALLET'}
    ${'REFUND'}     | ${'BACK_TO_SOURCE'} | ${'BACK_TO_SOURCE'}
    ${'ADJUSTMENT'} | ${null}             | ${null}
  `('$type to $requested: $target', ({ type, requested, target }) => {
    expect(refundTarget(type, requested)).toBe(target);
  });
  test.each(['PREPAID_WALLET', 'BACK_TO_SOURCE'] as const)(
    'an adjustment goes not to %s',
    (target) => {
      expect(refusalText(() => refundTarget('ADJUSTMENT', target))).toBe(
        'invalid validation_error refund_target',
      );
    },
  );
});

describe('capacity (money 10.5)', () => {
  test.each`
    type            | invoice                                                     | left
    ${'ADJUSTMENT'} | ${unpaid()}                                                 | ${'100'}
    ${'ADJUSTMENT'} | ${unpaid({ amount_paid: '40' })}                            | ${'60'}
    ${'ADJUSTMENT'} | ${unpaid({ amount_paid: '40', adjustment_amount: '50' })}   | ${'10'}
    ${'ADJUSTMENT'} | ${unpaid({ amount_paid: '40', adjustment_amount: '60' })}   | ${'0'}
    ${'ADJUSTMENT'} | ${unpaid({ amount_paid: '140' })}                           | ${'0'}
    ${'REFUND'}     | ${paid()}                                                   | ${'100'}
    ${'REFUND'}     | ${paid({ amount_paid: '120' })}                             | ${'120'}
    ${'REFUND'}     | ${paid({ refunded_amount: '30' })}                          | ${'70'}
    ${'REFUND'}     | ${paid({ refunded_amount: '30', refunds_in_flight: '50' })} | ${'20'}
    ${'REFUND'}     | ${paid({ refunded_amount: '60', refunds_in_flight: '50' })} | ${'0'}
  `('$type: $left', ({ type, invoice, left }) => {
    expect(creditCapacity(invoice, type).toFixed()).toBe(left);
  });
});

describe('limits of a note', () => {
  test.each`
    why                          | invoice                                                          | lines                               | total
    ${'part of a row'}           | ${unpaid()}                                                      | ${credit(['a', '20'])}              | ${'20'}
    ${'all of a row'}            | ${unpaid()}                                                      | ${credit(['a', '60'])}              | ${'60'}
    ${'all rows'}                | ${unpaid()}                                                      | ${credit(['a', '60'], ['b', '40'])} | ${'100'}
    ${'a row twice in one note'} | ${unpaid()}                                                      | ${credit(['a', '30'], ['a', '30'])} | ${'60'}
    ${'a discounted row'}        | ${unpaid({ total: '80', lines: [line('a', '100', '15', '5')] })} | ${credit(['a', '80'])}              | ${'80'}
    ${'what is not paid'}        | ${unpaid({ amount_paid: '40' })}                                 | ${credit(['a', '60'])}              | ${'60'}
    ${'a cent'}                  | ${unpaid()}                                                      | ${credit(['a', '0.01'])}            | ${'0.01'}
  `('$why: $total', ({ invoice, lines, total }) => {
    expect(checkCreditNote(invoice, 'ADJUSTMENT', lines, []).toFixed()).toBe(total);
  });

  test.each`
    why                            | invoice                                                          | lines                                  | path
    ${'no line'}                   | ${unpaid()}                                                      | ${[]}                                  | ${'line_items'}
    ${'zero'}                      | ${unpaid()}                                                      | ${credit(['a', '0'])}                  | ${'line_items[0].amount'}
    ${'negative'}                  | ${unpaid()}                                                      | ${credit(['a', '1'], ['b', '-1'])}     | ${'line_items[1].amount'}
    ${'finer than the currency'}   | ${unpaid()}                                                      | ${credit(['a', '0.001'])}              | ${'line_items[0].amount'}
    ${'a cent over the row'}       | ${unpaid()}                                                      | ${credit(['a', '60.01'])}              | ${'line_items[0].amount'}
    ${'over the row in two parts'} | ${unpaid()}                                                      | ${credit(['a', '30'], ['a', '30.01'])} | ${'line_items[1].amount'}
    ${'over the discounted row'}   | ${unpaid({ total: '80', lines: [line('a', '100', '15', '5')] })} | ${credit(['a', '80.01'])}              | ${'line_items[0].amount'}
    ${'over what is unpaid'}       | ${unpaid({ amount_paid: '40' })}                                 | ${credit(['a', '60'], ['b', '0.01'])}  | ${'line_items'}
    ${'a negative row'}            | ${unpaid({ lines: [line('a', '-5'), line('b', '105')] })}        | ${credit(['a', '1'])}                  | ${'line_items[0].amount'}
  `('refused: $why', ({ invoice, lines, path }) => {
    expect(refusalText(() => checkCreditNote(invoice, 'ADJUSTMENT', lines, []))).toBe(
      `invalid validation_error ${path}`,
    );
  });

  test('refused: a row of another invoice', () => {
    expect(refusalText(() => checkCreditNote(unpaid(), 'ADJUSTMENT', credit(['x', '1']), []))).toBe(
      'invalid validation_error line_items[0].invoice_line_item_id',
    );
  });

  test.each(['DRAFT', 'VOIDED', 'SKIPPED'] as const)('refused: a %s invoice', (invoice_status) => {
    expect(
      refusalText(() =>
        checkCreditNote(unpaid({ invoice_status }), 'ADJUSTMENT', credit(['a', '1']), []),
      ),
    ).toBe('invalid invalid_operation invoice_status');
  });
});

describe('what a refusal says', () => {
  test.each`
    lines                     | message
    ${credit(['a', '60.01'])} | ${'60.01 exceeds the 60 that can be credited.'}
    ${credit(['a', '0'])}     | ${'line_items[0].amount: must be above 0'}
    ${credit(['a', '0.001'])} | ${'line_items[0].amount: has more decimals than the currency'}
    ${[]}                     | ${'line_items: must name at least one line'}
    ${credit(['x', '1'])}     | ${'line_items[0].invoice_line_item_id: must be a row of the invoice'}
  `('$message', ({ lines, message }) => {
    expect(refusalOf(() => checkCreditNote(unpaid(), 'ADJUSTMENT', lines, [])).message).toBe(
      message,
    );
  });

  test('too much has a code of its own', () => {
    const refusal = refusalOf(() =>
      checkCreditNote(unpaid(), 'ADJUSTMENT', credit(['a', '61']), []),
    );
    expect(refusal.details[0]!.code).toBe('exceeds_creditable_amount');
  });

  test('a draft invoice names its status, a wrong type the right one', () => {
    const draft = unpaid({ invoice_status: 'DRAFT' });
    expect(
      refusalOf(() => checkCreditNote(draft, 'ADJUSTMENT', credit(['a', '1']), [])).message,
    ).toBe('A DRAFT invoice cannot be credited.');
    expect(refusalOf(() => creditNoteType('PENDING', 'REFUND')).message).toBe(
      'credit_note_type: must be ADJUSTMENT on a PENDING invoice',
    );
    expect(refusalOf(() => refundTarget('ADJUSTMENT', 'BACK_TO_SOURCE')).message).toBe(
      'refund_target: is for refund credit notes',
    );
  });
});

describe('earlier notes count once they are finalized (money 8.4.4)', () => {
  test.each`
    earlier                                                             | left
    ${[]}                                                               | ${'60'}
    ${[note('FINALIZED', ['a', '25'])]}                                 | ${'35'}
    ${[note('DRAFT', ['a', '25'])]}                                     | ${'60'}
    ${[note('VOIDED', ['a', '25'])]}                                    | ${'60'}
    ${[note('FINALIZED', ['b', '25'])]}                                 | ${'60'}
    ${[note('FINALIZED', ['a', '10']), note('FINALIZED', ['a', '50'])]} | ${'0'}
  `('of a row of 60 there is $left left', ({ earlier, left }) => {
    const over = (Number(left) + 0.01).toFixed(2);
    expect(refusalText(() => checkCreditNote(paid(), 'REFUND', credit(['a', over]), earlier))).toBe(
      'invalid validation_error line_items[0].amount',
    );
    if (left !== '0') {
      expect(checkCreditNote(paid(), 'REFUND', credit(['a', left]), earlier).toFixed()).toBe(left);
    }
  });

  test('P: two drafts of 80 on a paid 100; the second is refused when it is finalized', () => {
    const invoice = paid({ lines: [line('a', '100')] });
    const eighty = credit(['a', '80']);
    expect(checkCreditNote(invoice, 'REFUND', eighty, []).toFixed()).toBe('80');
    expect(checkCreditNote(invoice, 'REFUND', eighty, [note('DRAFT', ['a', '80'])]).toFixed()).toBe(
      '80',
    );
    const after = {
      ...invoice,
      refunded_amount: '80',
      payment_status: 'PARTIALLY_REFUNDED' as const,
    };
    expect(() =>
      checkCreditNote(after, 'REFUND', eighty, [note('FINALIZED', ['a', '80'])]),
    ).toThrow('exceeds the 20 that can be credited');
  });

  test('P in yen and in dinar', () => {
    const yen = paid({ currency: 'jpy', lines: [line('a', '100')] });
    expect(checkCreditNote(yen, 'REFUND', credit(['a', '80']), []).toFixed()).toBe('80');
    expect(refusalText(() => checkCreditNote(yen, 'REFUND', credit(['a', '80.5']), []))).toBe(
      'invalid validation_error line_items[0].amount',
    );
    const dinar = paid({ currency: 'kwd', total: '1', amount_paid: '1', lines: [line('a', '1')] });
    expect(checkCreditNote(dinar, 'REFUND', credit(['a', '0.801']), []).toFixed()).toBe('0.801');
  });
});

describe('the tax line (money 10.6)', () => {
  const taxed = paid({ total: '110', amount_paid: '110', exclusive_tax: '10' });

  test('a full credit reaches the total of the invoice', () => {
    const lines = credit(['a', '60'], ['b', '40'], [TAX_LINE, '10']);
    expect(checkCreditNote(taxed, 'REFUND', lines, []).toFixed()).toBe('110');
  });

  test.each`
    lines                                                       | left
    ${credit(['a', '60'], [TAX_LINE, '6'])}                     | ${'66'}
    ${credit([TAX_LINE, '6'], ['a', '60'])}                     | ${'66'}
    ${credit(['a', '0.04'], ['b', '0.01'], [TAX_LINE, '0.01'])} | ${'0.06'}
  `('its part goes with the credited rows: $left', ({ lines, left }) => {
    expect(checkCreditNote(taxed, 'REFUND', lines, []).toFixed()).toBe(left);
  });

  test.each`
    why                        | lines                                      | earlier
    ${'more than its part'}    | ${credit(['a', '60'], [TAX_LINE, '6.01'])} | ${[]}
    ${'tax alone'}             | ${credit([TAX_LINE, '0.01'])}              | ${[]}
    ${'its part was credited'} | ${credit([TAX_LINE, '0.01'])}              | ${[note('FINALIZED', ['a', '60'], [TAX_LINE, '6'])]}
  `('refused: $why', ({ lines, earlier }) => {
    expect(() => checkCreditNote(taxed, 'REFUND', lines, earlier)).toThrow('exceeds the');
  });

  test('what an earlier note left of it can follow', () => {
    expect(
      checkCreditNote(taxed, 'REFUND', credit([TAX_LINE, '2']), [
        note('FINALIZED', ['a', '60'], [TAX_LINE, '4']),
      ]).toFixed(),
    ).toBe('2');
  });

  test('an invoice whose rows are all discounted away has none', () => {
    const none = paid({ exclusive_tax: '10', lines: [line('a', '5', '5')] });
    expect(() => checkCreditNote(none, 'REFUND', credit([TAX_LINE, '1']), [])).toThrow(
      'exceeds the 0',
    );
  });

  test('an invoice without taxable rows has none', () => {
    const none = paid({ exclusive_tax: '10', lines: [line('a', '-5')] });
    expect(() => checkCreditNote(none, 'REFUND', credit([TAX_LINE, '1']), [])).toThrow(
      'exceeds the 0',
    );
  });
});

describe('the content by which a repeated request is known (money 10.12)', () => {
  const request = {
    invoice_id: 'inv_1',
    reason: 'DUPLICATE',
    credit_note_type: 'ADJUSTMENT',
    refund_target: null,
    process_credit_note: true,
    memo: null,
    metadata: { b: '2', a: '1' },
    line_items: credit(['b', '10.00'], ['a', '5']),
  } as const;
  const content = creditNoteContent(request);

  test.each`
    same                   | over
    ${'amounts'}           | ${{ line_items: credit(['b', '10'], ['a', '5.0']) }}
    ${'order of lines'}    | ${{ line_items: credit(['a', '5'], ['b', '10']) }}
    ${'order of metadata'} | ${{ metadata: { a: '1', b: '2' } }}
  `('canonical $same', ({ over }) => {
    expect(creditNoteContent({ ...request, ...over })).toBe(content);
  });

  test.each`
    differs            | over
    ${'invoice'}       | ${{ invoice_id: 'inv_2' }}
    ${'reason'}        | ${{ reason: 'FRAUDULENT' }}
    ${'type'}          | ${{ credit_note_type: 'REFUND' }}
    ${'target'}        | ${{ refund_target: 'BACK_TO_SOURCE' }}
    ${'processing'}    | ${{ process_credit_note: false }}
    ${'memo'}          | ${{ memo: 'x' }}
    ${'empty memo'}    | ${{ memo: '' }}
    ${'metadata'}      | ${{ metadata: { a: '1' } }}
    ${'no metadata'}   | ${{ metadata: null }}
    ${'amount'}        | ${{ line_items: credit(['b', '10.01'], ['a', '5']) }}
    ${'one line more'} | ${{ line_items: credit(['b', '10'], ['a', '5'], ['a', '5']) }}
    ${'lines swapped'} | ${{ line_items: credit(['a', '10'], ['b', '5']) }}
  `('another $differs', ({ over }) => {
    expect(creditNoteContent({ ...request, ...over })).not.toBe(content);
  });

  test('fields cannot run into each other', () => {
    const left = creditNoteContent({ ...request, metadata: { 'a","b': 'c' } });
    const right = creditNoteContent({ ...request, metadata: { a: 'b","c' } });
    expect(left).not.toBe(right);
  });
});
