import { canMovePayment, movePayment, paymentMachine } from '../../../domain/states/payment.ts';
import { moveRefund, refundMachine } from '../../../domain/states/refund.ts';
import { describeMachine } from './transition-table.ts';

describeMachine(
  paymentMachine,
  `
                     INITIATED PENDING PROCESSING SUCCEEDED OVERPAID FAILED REFUNDED PARTIALLY_REFUNDED VOIDED
  new                INITIATED PENDING .          .         .        .      .        .                  .
  INITIATED          =         PENDING PROCESSING SUCCEEDED OVERPAID FAILED .        .                  VOIDED
  PENDING            .         =       PROCESSING SUCCEEDED OVERPAID FAILED .        .                  VOIDED
  PROCESSING         INITIATED PENDING =          SUCCEEDED OVERPAID FAILED .        .                  .
  SUCCEEDED          .         .       .          =         OVERPAID .      REFUNDED PARTIALLY_REFUNDED VOIDED
  OVERPAID           .         .       .          .         =        .      REFUNDED PARTIALLY_REFUNDED .
  PARTIALLY_REFUNDED .         .       .          .         .        .      REFUNDED =                  .
  FAILED             .         .       .          .         .        =      .        .                  .
  REFUNDED           .         .       .          .         .        .      =        .                  .
  VOIDED             .         .       .          .         .        .      .        .                  =`,
  movePayment,
);

describeMachine(
  refundMachine,
  `
             create  record    accept     succeed   fail   cancel    retry
  new        PENDING SUCCEEDED .          .         .      .         .
  PENDING    .       .         PROCESSING SUCCEEDED FAILED CANCELLED .
  PROCESSING .       .         =          SUCCEEDED FAILED CANCELLED .
  SUCCEEDED  .       .         =          =         =      =         .
  FAILED     .       .         .          .         =      =         =
  CANCELLED  .       .         =          =         =      =         .`,
  moveRefund,
);

test('asking does not refuse', () => {
  expect(canMovePayment('INITIATED', 'PENDING')).toBe(true);
  expect(canMovePayment('SUCCEEDED', 'FAILED')).toBe(false);
});
