import {
  BILLING_REASONS,
  COLLECTION_METHODS,
  PAYMENT_BEHAVIORS,
  SUBSCRIPTION_STATUSES,
} from '../../../schemas/words.ts';
import { decimal } from '../../../domain/money.ts';
import {
  assertOpeningPaid,
  attemptsPayment,
  openingStatus,
  statusAfterSettlement,
  validateCollection,
} from '../../../domain/subscription/activation.ts';
import { refusalOf, refusalText } from '../../support/refusal.ts';

describe('payment_behavior × collection_method, 10 due (billing 10.3)', () => {
  test.each`
    payment_behavior         | collection_method         | accepted | attempts | paid        | unpaid
    ${'default_active'}      | ${'charge_automatically'} | ${true}  | ${true}  | ${'active'} | ${'active'}
    ${'default_active'}      | ${'send_invoice'}         | ${true}  | ${false} | ${'active'} | ${'active'}
    ${'allow_incomplete'}    | ${'charge_automatically'} | ${true}  | ${true}  | ${'active'} | ${'incomplete'}
    ${'allow_incomplete'}    | ${'send_invoice'}         | ${false} | ${false} | ${'active'} | ${'incomplete'}
    ${'error_if_incomplete'} | ${'charge_automatically'} | ${true}  | ${true}  | ${'active'} | ${'incomplete'}
    ${'error_if_incomplete'} | ${'send_invoice'}         | ${false} | ${false} | ${'active'} | ${'incomplete'}
    ${'default_incomplete'}  | ${'charge_automatically'} | ${true}  | ${false} | ${'active'} | ${'incomplete'}
    ${'default_incomplete'}  | ${'send_invoice'}         | ${true}  | ${false} | ${'active'} | ${'incomplete'}
  `('$payment_behavior, $collection_method', ({ accepted, attempts, paid, unpaid, ...terms }) => {
    if (accepted) expect(() => validateCollection(terms)).not.toThrow();
    else {
      expect(refusalText(() => validateCollection(terms))).toBe(
        'invalid validation_error payment_behavior',
      );
    }
    expect(attemptsPayment(terms, decimal('10'))).toBe(attempts);
    expect(openingStatus(terms, decimal('10'), true)).toBe(paid);
    expect(openingStatus(terms, decimal('10'), false)).toBe(unpaid);
  });

  const all = PAYMENT_BEHAVIORS.flatMap((payment_behavior) =>
    COLLECTION_METHODS.map((collection_method) => ({ payment_behavior, collection_method })),
  );
  test.each(all)(
    'nothing due: $payment_behavior, $collection_method is active at once',
    (terms) => {
      expect(openingStatus(terms, decimal('0'), false)).toBe('active');
      expect(attemptsPayment(terms, decimal('0'))).toBe(false);
    },
  );

  test.each(all)(
    '$payment_behavior, $collection_method refuses an unpaid opening or not',
    (terms) => {
      expect(() => assertOpeningPaid(terms, 'active')).not.toThrow();
      const unpaid = () => assertOpeningPaid(terms, 'incomplete');
      if (terms.payment_behavior === 'error_if_incomplete') {
        const refusal = refusalOf(unpaid);
        expect([refusal.kind, refusal.code]).toEqual(['invalid', 'invalid_operation']);
        expect(refusal.details[0]).toMatchObject({
          path: 'payment_behavior',
          code: 'payment_failed',
        });
      } else expect(unpaid).not.toThrow();
    },
  );
});

describe('what a settled invoice does to its subscription (billing 10.3)', () => {
  const settled = decimal('0');
  test.each(SUBSCRIPTION_STATUSES)('a %s one', (status) => {
    expect(
      statusAfterSettlement(
        status,
        { billing_reason: 'SUBSCRIPTION_CREATE', amount_remaining: settled },
        [],
      ),
    ).toBe(status === 'incomplete' ? 'active' : status);
  });

  test.each([...BILLING_REASONS, null])('by an invoice with reason %s', (billing_reason) => {
    const first =
      billing_reason !== null &&
      ['SUBSCRIPTION_CREATE', 'SUBSCRIPTION_UPDATE', 'SUBSCRIPTION_TRIAL_END'].includes(
        billing_reason,
      );
    const invoice = { billing_reason, amount_remaining: settled };
    expect(statusAfterSettlement('incomplete', invoice, [])).toBe(first ? 'active' : 'incomplete');
  });

  test('a part does not settle it', () => {
    expect(
      statusAfterSettlement(
        'incomplete',
        { billing_reason: 'SUBSCRIPTION_CREATE', amount_remaining: decimal('0.01') },
        [],
      ),
    ).toBe('incomplete');
  });

  test.each`
    paid                        | other                       | left   | status
    ${'SUBSCRIPTION_UPDATE'}    | ${'SUBSCRIPTION_CREATE'}    | ${'1'} | ${'incomplete'}
    ${'SUBSCRIPTION_UPDATE'}    | ${'SUBSCRIPTION_TRIAL_END'} | ${'1'} | ${'incomplete'}
    ${'SUBSCRIPTION_UPDATE'}    | ${'SUBSCRIPTION_CREATE'}    | ${'0'} | ${'active'}
    ${'SUBSCRIPTION_UPDATE'}    | ${'SUBSCRIPTION_UPDATE'}    | ${'1'} | ${'active'}
    ${'SUBSCRIPTION_CREATE'}    | ${'SUBSCRIPTION_UPDATE'}    | ${'1'} | ${'active'}
    ${'SUBSCRIPTION_TRIAL_END'} | ${'SUBSCRIPTION_UPDATE'}    | ${'1'} | ${'active'}
  `('$paid with $left left of $other: $status', ({ paid, other, left, status }) => {
    const invoice = { billing_reason: paid, amount_remaining: settled };
    const others = [invoice, { billing_reason: other, amount_remaining: decimal(left) }];
    expect(statusAfterSettlement('incomplete', invoice, others)).toBe(status);
  });
});
