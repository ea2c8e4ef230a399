import { INVOICE_STATUSES } from '../../schemas/words.ts';
import { move, type StateMachine } from './state-machine.ts';

export type InvoiceStatus = (typeof INVOICE_STATUSES)[number];

export const INVOICE_TRIGGERS = [
  'create', 'compute_value', 'compute_zero', 'finalize', 'void', 'edit', 'recalculate', 'pay',
  'complete_checkout', 'expire_checkout',
] as const; // prettier-ignore
export type InvoiceTrigger = (typeof INVOICE_TRIGGERS)[number];

/**
 * Billing-semantics 19.3. `compute_*`: the result of `skipsAsZero` (domain/invoicing). `edit` (a line or a
 * discount) and `recalculate` void a finalized invoice; the caller writes the linked draft. A voided invoice is
 * final; its period is billed again by a new invoice. Finalizing or paying a skipped invoice does nothing.
 */
export const invoiceMachine: StateMachine<InvoiceStatus, InvoiceTrigger> = {
  noun: 'invoice',
  field: 'invoice_status',
  refusal: 'invalid_operation',
  states: INVOICE_STATUSES,
  triggers: INVOICE_TRIGGERS,
  initial: { create: 'DRAFT' },
  moves: {
    DRAFT: {
      compute_value: 'DRAFT',
      compute_zero: 'SKIPPED',
      finalize: 'FINALIZED',
      void: 'VOIDED',
      edit: 'DRAFT',
      complete_checkout: 'FINALIZED',
      expire_checkout: 'VOIDED',
    },
    SKIPPED: {
      compute_value: 'DRAFT',
      compute_zero: 'SKIPPED',
      finalize: 'SKIPPED',
      pay: 'SKIPPED',
      void: 'VOIDED',
    },
    FINALIZED: { pay: 'FINALIZED', void: 'VOIDED', edit: 'VOIDED', recalculate: 'VOIDED' },
    VOIDED: {},
  },
};

/** The status after `trigger`; refuses with `invalid_operation`. */
export const moveInvoice = (from: InvoiceStatus | null, trigger: InvoiceTrigger): InvoiceStatus =>
  move(invoiceMachine, from, trigger);
