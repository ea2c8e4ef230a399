import { PAYMENT_METHOD_TYPES, PAYMENT_STATUSES } from '../../../schemas/words.ts';
import {
  assertPaymentAmount,
  initialPaymentStatus,
  isDeletable,
} from '../../../domain/invoicing/payments.ts';
import { decimal } from '../../../domain/money.ts';
import { refusalText } from '../../support/refusal.ts';

test.each(PAYMENT_STATUSES)('deleting a payment that is %s', (status) => {
  expect(isDeletable(status)).toBe(['INITIATED', 'PENDING', 'FAILED'].includes(status));
});

describe('the first status (money 8.1.3)', () => {
  test.each`
    method            | processed      | held
    ${'PAYMENT_LINK'} | ${'INITIATED'} | ${'INITIATED'}
    ${'OFFLINE'}      | ${'PENDING'}   | ${'PENDING'}
    ${'CREDITS'}      | ${'PENDING'}   | ${'PENDING'}
    ${'CARD'}         | ${'PENDING'}   | ${'INITIATED'}
    ${'ACH'}          | ${'PENDING'}   | ${'INITIATED'}
    ${'UPI'}          | ${'PENDING'}   | ${'INITIATED'}
  `('$method', ({ method, processed, held }) => {
    expect(PAYMENT_METHOD_TYPES).toContain(method);
    expect(initialPaymentStatus(method, true)).toBe(processed);
    expect(initialPaymentStatus(method, false)).toBe(held);
  });
});

describe('amounts (money 8.1.2, 8.1.6)', () => {
  const invoice = (amount_remaining: string, ...in_flight: string[]) => ({
    currency: 'usd',
    amount_remaining,
    in_flight: in_flight.map((amount) => ({ amount })),
  });
  const check = (
    amount: string,
    method: Parameters<typeof assertPaymentAmount>[1],
    of: ReturnType<typeof invoice>,
    isReported = false,
  ) => assertPaymentAmount(decimal(amount), method, of, isReported);

  test.each`
    amount    | method            | of                     | reported
    ${'50'}   | ${'CARD'}         | ${invoice('50')}       | ${false}
    ${'0.01'} | ${'CARD'}         | ${invoice('50')}       | ${false}
    ${'20'}   | ${'PAYMENT_LINK'} | ${invoice('50', '30')} | ${false}
    ${'70'}   | ${'OFFLINE'}      | ${invoice('50')}       | ${false}
    ${'70'}   | ${'CARD'}         | ${invoice('50')}       | ${true}
    ${'1'}    | ${'OFFLINE'}      | ${invoice('0')}        | ${false}
  `('$amount by $method is accepted', ({ amount, method, of, reported }) => {
    expect(() => check(amount, method, of, reported)).not.toThrow();
  });

  test.each`
    amount     | method       | of                           | refusal
    ${'0'}     | ${'CARD'}    | ${invoice('50')}             | ${'invalid validation_error amount'}
    ${'-1'}    | ${'OFFLINE'} | ${invoice('50')}             | ${'invalid validation_error amount'}
    ${'1.005'} | ${'OFFLINE'} | ${invoice('50')}             | ${'invalid validation_error amount'}
    ${'50.01'} | ${'CARD'}    | ${invoice('50')}             | ${'invalid invalid_operation amount'}
    ${'50.01'} | ${'CREDITS'} | ${invoice('50')}             | ${'invalid invalid_operation amount'}
    ${'20.01'} | ${'UPI'}     | ${invoice('50', '30')}       | ${'invalid invalid_operation amount'}
    ${'0.01'}  | ${'CARD'}    | ${invoice('50', '30', '40')} | ${'invalid invalid_operation amount'}
  `('$amount by $method is refused', ({ amount, method, of, refusal }) => {
    expect(refusalText(() => check(amount, method, of))).toBe(refusal);
  });
});
