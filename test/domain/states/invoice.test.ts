import {
  invoicePaymentMachine,
  moveInvoicePayment,
} from '../../../domain/states/invoice-payment.ts';
import { invoiceMachine, moveInvoice } from '../../../domain/states/invoice.ts';
import { refusalOf } from '../../support/refusal.ts';
import { describeMachine } from './transition-table.ts';

describeMachine(
  invoiceMachine,
  `
            create compute_value compute_zero finalize  void   edit   recalculate pay complete_checkout expire_checkout
  new       DRAFT  .             .            .         .      .      .           .   .                 .
  DRAFT     .      =             SKIPPED      FINALIZED VOIDED =      .           .   FINALIZED         VOIDED
  SKIPPED   .      DRAFT         =            =         VOIDED .      .           =   .                 .
  FINALIZED .      .             .            .         VOIDED VOIDED VOIDED      =   .                 .
  VOIDED    .      .             .            .         .      .      .           .   .                 .`,
  moveInvoice,
);

describeMachine(
  invoicePaymentMachine,
  `
                     INITIATED PENDING PROCESSING SUCCEEDED OVERPAID FAILED REFUNDED PARTIALLY_REFUNDED VOIDED
  new                .         PENDING .          .         .        .      .        .                  .
  PENDING            INITIATED =       PROCESSING SUCCEEDED OVERPAID FAILED .        .                  VOIDED
  FAILED             INITIATED PENDING PROCESSING SUCCEEDED OVERPAID =      .        .                  VOIDED
  INITIATED          =         .       PROCESSING SUCCEEDED OVERPAID FAILED .        .                  .
  PROCESSING         .         PENDING =          SUCCEEDED OVERPAID FAILED .        .                  .
  SUCCEEDED          .         .       .          =         OVERPAID .      REFUNDED PARTIALLY_REFUNDED .
  OVERPAID           .         .       .          SUCCEEDED =        .      REFUNDED PARTIALLY_REFUNDED .
  PARTIALLY_REFUNDED .         .       .          .         .        .      REFUNDED =                  .
  REFUNDED           .         .       .          .         .        .      =        .                  .
  VOIDED             .         .       .          .         .        .      .        .                  =`,
  moveInvoicePayment,
);

test('a refused target names the allowed ones', () => {
  const refusal = refusalOf(() => moveInvoicePayment('PARTIALLY_REFUNDED', 'PENDING'));
  expect(refusal.code).toBe('validation_error');
  expect(refusal.message).toBe(
    'A PARTIALLY_REFUNDED invoice payment does not accept PENDING; it accepts REFUNDED.',
  );
});
