import { PAYMENT_STATUSES, REFUND_STATUSES } from '../../../schemas/words.ts';
import {
  allocateRefund,
  assertRetryable,
  refundCapacity,
  refundedPaymentStatus,
  refundsInFlight,
  type Refund,
  type RefundablePayment,
} from '../../../domain/invoicing/refunds.ts';
import { decimal } from '../../../domain/money.ts';
import { refusalOf, refusalText } from '../../support/refusal.ts';

const payment = (
  id: string,
  amount: string,
  payment_method_type = 'CARD',
  payment_status: RefundablePayment['payment_status'] = 'SUCCEEDED',
): RefundablePayment => ({ id, amount, payment_method_type, payment_status });
const refund = (
  payment_id: string,
  amount: string,
  refund_status: Refund['refund_status'] = 'SUCCEEDED',
): Refund => ({ payment_id, amount, refund_status });

describe('capacity of a payment (money 9.2)', () => {
  test.each`
    why                     | refunds                                   | left
    ${'none yet'}           | ${[]}                                     | ${'100'}
    ${'some arrived'}       | ${[refund('p', '30'), refund('p', '20')]} | ${'50'}
    ${'of another payment'} | ${[refund('q', '30')]}                    | ${'100'}
    ${'all'}                | ${[refund('p', '100')]}                   | ${'0'}
    ${'more than all'}      | ${[refund('p', '101')]}                   | ${'0'}
  `('$why: $left', ({ refunds, left }) => {
    expect(refundCapacity(payment('p', '100'), refunds).toFixed()).toBe(left);
  });

  test.each(REFUND_STATUSES)('a refund that is %s', (status) => {
    const reserves = ['PENDING', 'PROCESSING', 'SUCCEEDED'].includes(status);
    expect(refundCapacity(payment('p', '100'), [refund('p', '30', status)]).toFixed()).toBe(
      reserves ? '70' : '100',
    );
    const inFlight = ['PENDING', 'PROCESSING'].includes(status);
    expect(refundsInFlight([refund('p', '30', status)]).toFixed()).toBe(inFlight ? '30' : '0');
  });

  test.each(PAYMENT_STATUSES)('a payment that is %s', (status) => {
    const brought = ['SUCCEEDED', 'OVERPAID', 'PARTIALLY_REFUNDED', 'REFUNDED'].includes(status);
    expect(refundCapacity(payment('p', '100', 'CARD', status), []).toFixed()).toBe(
      brought ? '100' : '0',
    );
  });
});

describe('over several payments, the newest first (money 9.7)', () => {
  const split = (
    amount: string,
    target: 'PREPAID_WALLET' | 'BACK_TO_SOURCE',
    payments: RefundablePayment[],
    refunds: Refund[] = [],
  ) =>
    allocateRefund(decimal(amount), target, payments, refunds).map((part) => [
      part.payment_id,
      part.amount.toFixed(),
      part.destination,
    ]);
  const old = payment('old', '60');
  const recent = payment('new', '40');

  test.each`
    amount   | parts
    ${'10'}  | ${[['new', '10']]}
    ${'40'}  | ${[['new', '40']]}
    ${'41'}  | ${[['new', '40'], ['old', '1']]}
    ${'100'} | ${[['new', '40'], ['old', '60']]}
  `('$amount', ({ amount, parts }) => {
    expect(split(amount, 'BACK_TO_SOURCE', [old, recent])).toEqual(
      parts.map((part: string[]) => [...part, 'BACK_TO_SOURCE']),
    );
  });

  test('what was refunded before is no longer there', () => {
    expect(split('30', 'PREPAID_WALLET', [old, recent], [refund('new', '35', 'PENDING')])).toEqual([
      ['new', '5', 'PREPAID_WALLET'],
      ['old', '25', 'PREPAID_WALLET'],
    ]);
  });

  test('more than all of them hold is refused', () => {
    expect(refusalText(() => split('100.01', 'PREPAID_WALLET', [old, recent]))).toBe(
      'invalid validation_error amount',
    );
    expect(refusalText(() => split('1', 'PREPAID_WALLET', []))).toBe(
      'invalid validation_error amount',
    );
  });

  test.each`
    method            | target              | destination
    ${'CARD'}         | ${'PREPAID_WALLET'} | ${'PREPAID_WALLET'}
    ${'CARD'}         | ${'BACK_TO_SOURCE'} | ${'BACK_TO_SOURCE'}
    ${'PAYMENT_LINK'} | ${'BACK_TO_SOURCE'} | ${'BACK_TO_SOURCE'}
    ${'CREDITS'}      | ${'PREPAID_WALLET'} | ${'SOURCE_WALLET'}
    ${'CREDITS'}      | ${'BACK_TO_SOURCE'} | ${'SOURCE_WALLET'}
    ${'OFFLINE'}      | ${'PREPAID_WALLET'} | ${'PREPAID_WALLET'}
  `('$method to $target goes to $destination', ({ method, target, destination }) => {
    expect(split('5', target, [payment('p', '10', method)])).toEqual([['p', '5', destination]]);
  });

  test('OFFLINE money has no source to go back to', () => {
    expect(refusalText(() => split('5', 'BACK_TO_SOURCE', [payment('p', '10', 'OFFLINE')]))).toBe(
      'invalid validation_error refund_target',
    );
    expect(
      split('5', 'BACK_TO_SOURCE', [payment('p', '10', 'OFFLINE'), payment('q', '5')]),
    ).toEqual([['q', '5', 'BACK_TO_SOURCE']]);
  });

  test('a refund of nothing is a bug', () => {
    expect(() => split('0', 'PREPAID_WALLET', [old])).toThrow('a refund of nothing');
  });
});

describe('the status of a payment with refunds (money 9.5)', () => {
  test.each`
    refunds                                              | status
    ${[]}                                                | ${'SUCCEEDED'}
    ${[refund('p', '40', 'PENDING')]}                    | ${'SUCCEEDED'}
    ${[refund('p', '40', 'FAILED')]}                     | ${'SUCCEEDED'}
    ${[refund('p', '0.01')]}                             | ${'PARTIALLY_REFUNDED'}
    ${[refund('p', '99.99')]}                            | ${'PARTIALLY_REFUNDED'}
    ${[refund('p', '60'), refund('p', '40')]}            | ${'REFUNDED'}
    ${[refund('p', '60'), refund('p', '40', 'PENDING')]} | ${'PARTIALLY_REFUNDED'}
    ${[refund('q', '100')]}                              | ${'SUCCEEDED'}
  `('$status', ({ refunds, status }) => {
    expect(refundedPaymentStatus(payment('p', '100'), refunds)).toBe(status);
  });
});

describe('a retry (money 9.6)', () => {
  test('only of a failed refund', () => {
    expect(() => assertRetryable({ refund_status: 'FAILED', was_retried: false })).not.toThrow();
  });
  test.each(['PENDING', 'PROCESSING', 'SUCCEEDED', 'CANCELLED'] as const)(
    'not %s',
    (refund_status) => {
      expect(refusalText(() => assertRetryable({ refund_status, was_retried: false }))).toBe(
        'invalid invalid_operation refund_status',
      );
    },
  );
  test('only once', () => {
    const refusal = refusalOf(() =>
      assertRetryable({ refund_status: 'FAILED', was_retried: true }),
    );
    expect([refusal.kind, refusal.code]).toEqual(['conflict', 'already_exists']);
    expect(refusal.details[0]).toMatchObject({ path: 'refund_status', code: 'already_retried' });
  });
});
