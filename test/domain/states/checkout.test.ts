import { CHECKOUT_STATUSES } from '../../../schemas/words.ts';
import {
  checkoutMachine,
  isTerminalCheckout,
  moveCheckout,
} from '../../../domain/states/checkout.ts';
import { creditNoteMachine, moveCreditNote } from '../../../domain/states/credit-note.ts';
import { refusalOf } from '../../support/refusal.ts';
import { describeMachine } from './transition-table.ts';

describeMachine(
  checkoutMachine,
  `
            create    offer_payment fail   complete  expire  cancel  receive_late_money
  new       initiated .             .      .         .       .       .
  initiated .         pending       failed completed expired expired .
  pending   .         .             failed completed expired expired .
  completed .         .             .      .         .       .       .
  failed    .         .             .      .         .       =       =
  expired   .         .             .      .         .       =       =`,
  moveCheckout,
);

test('a terminal session accepts nothing that leads elsewhere', () => {
  expect(CHECKOUT_STATUSES.filter(isTerminalCheckout)).toEqual(['completed', 'failed', 'expired']);
  for (const status of CHECKOUT_STATUSES.filter(isTerminalCheckout)) {
    expect(Object.values(checkoutMachine.moves[status]).every((to) => to === status)).toBe(true);
  }
});

describeMachine(
  creditNoteMachine,
  `
            create finalize  void
  new       DRAFT  .         .
  DRAFT     .      FINALIZED VOIDED
  FINALIZED .      .         VOIDED
  VOIDED    .      .         .`,
  (from, trigger) => moveCreditNote('ADJUSTMENT', from, trigger),
);

describe('a refund credit note', () => {
  test('is voided while it is a draft', () => {
    expect(moveCreditNote('REFUND', null, 'create')).toBe('DRAFT');
    expect(moveCreditNote('REFUND', 'DRAFT', 'void')).toBe('VOIDED');
    expect(moveCreditNote('REFUND', 'DRAFT', 'finalize')).toBe('FINALIZED');
  });
  test('is not voided once its money has moved', () => {
    const refusal = refusalOf(() => moveCreditNote('REFUND', 'FINALIZED', 'void'));
    expect([refusal.kind, refusal.code]).toEqual(['invalid', 'invalid_operation']);
    expect(refusal.details).toEqual([
      { path: 'credit_note_status', code: 'illegal_transition', message: refusal.message },
    ]);
  });
  test.each(['finalize', 'create'] as const)('is refused %s once finalized', (trigger) => {
    expect(refusalOf(() => moveCreditNote('REFUND', 'FINALIZED', trigger)).code).toBe(
      'invalid_operation',
    );
    expect(refusalOf(() => moveCreditNote('REFUND', 'FINALIZED', trigger)).message).toBe(
      `A FINALIZED credit note does not accept ${trigger}; it accepts void.`,
    );
  });
});
