import { checkoutMachine, type CheckoutTrigger } from '../../domain/states/checkout.ts';
import { creditNoteMachine, type CreditNoteTrigger } from '../../domain/states/credit-note.ts';
import {
  grantApplicationMachine,
  type GrantApplicationTrigger,
} from '../../domain/states/grant-application.ts';
import { invoicePaymentMachine } from '../../domain/states/invoice-payment.ts';
import { invoiceMachine, type InvoiceTrigger } from '../../domain/states/invoice.ts';
import { pauseMachine, type PauseTrigger } from '../../domain/states/pause.ts';
import { paymentMachine } from '../../domain/states/payment.ts';
import { refundMachine, type RefundTrigger } from '../../domain/states/refund.ts';
import type { StateMachine } from '../../domain/states/state-machine.ts';
import { subscriptionMachine, type SubscriptionTrigger } from '../../domain/states/subscription.ts';
import { taskMachine } from '../../domain/states/task.ts';
import {
  transactionMachine,
  type TransactionTrigger,
} from '../../domain/states/wallet-transaction.ts';
import { walletMachine, type WalletTrigger } from '../../domain/states/wallet.ts';

/** `POST /path` of the API, `job NAME`, or `maintain NAME` of the operator. */
export type Caller = string;

type CallersOf<Trigger extends string> = Readonly<Record<Trigger, readonly Caller[]>>;

/** A table of states with the function that code moves by, and what fires each trigger. */
export interface DescribedMachine {
  readonly machine: StateMachine<string, string>;
  /** The function of `domain/states` that makes the move; every call of it is found in the code. */
  readonly moves: string;
  readonly callers: Readonly<Record<string, readonly Caller[]>>;
}

const CREATE = 'POST /subscriptions';
const ACTIVATE = 'POST /subscriptions/{id}/activate';
const DISCARD = 'POST /subscriptions/{id}/discard';
const CANCEL = 'POST /subscriptions/{id}/cancel';
const PAUSE = 'POST /subscriptions/{id}/pause';
const RESUME = 'POST /subscriptions/{id}/resume';
const BILL = 'job close-billing-periods';
const FINALIZE = 'job finalize-draft-invoices';
const PAY = 'POST /payments';
const GATEWAY_EVENT = 'POST /webhooks/{provider}/{tenant}/{environment}/{connection_id}';
const RECONCILE = 'job reconcile-payments';
const CHECKOUT = 'POST /checkout/sessions';
const CANCEL_CHECKOUT = 'POST /checkout/sessions/{id}/cancel';
const EXPIRE_CHECKOUT = 'job expire-checkouts';
const OUTCOME = 'POST /test-gateway/payments/{id}/outcome';
const VOID = 'POST /invoices/{id}/void';
const TOP_UP = 'POST /wallets/{id}/top-up';
const DEBIT = 'POST /wallets/{id}/debit';
const TERMINATE = 'POST /wallets/{id}/terminate';
const CONVERT = 'POST /wallets/{id}/modify';
const NOTE = 'POST /creditnotes';
const REFUND = 'POST /refunds';
const RETRY_REFUND = 'POST /refunds/{id}/retry';
const GRANT = 'job apply-credit-grants';
const PUT_PAYMENT = 'PUT /payments/{id}';
const REPORT = 'PUT /invoices/{id}/payment';
const PUT_TASK = 'PUT /tasks/{id}/status';
const IMPORT = 'job import-events';

const subscription: CallersOf<SubscriptionTrigger> = {
  create_draft: [CREATE],
  create_trialing: [CREATE],
  create_active: [CREATE],
  create_incomplete: [CREATE],
  activate_trialing: [ACTIVATE],
  activate_active: [ACTIVATE, GATEWAY_EVENT, OUTCOME],
  activate_incomplete: [ACTIVATE],
  discard: [DISCARD, CANCEL_CHECKOUT, EXPIRE_CHECKOUT],
  convert_active: [BILL],
  convert_incomplete: [BILL],
  settle_first_invoice: [PAY, REPORT, NOTE, GATEWAY_EVENT, RECONCILE],
  pause: [PAUSE, BILL],
  resume: [RESUME, BILL],
  cancel: [CANCEL, BILL, 'job cancel-unpaid-subscriptions', 'DELETE /test-clocks/{id}'],
};

const pause: CallersOf<PauseTrigger> = {
  pause_now: [PAUSE],
  schedule: [PAUSE],
  start: [BILL],
  withdraw: ['POST /subscriptions/{id}/pauses/{pause_id}/cancel'],
  resume: [RESUME, BILL],
  cancel_subscription: [CANCEL, BILL],
};

const invoice: CallersOf<InvoiceTrigger> = {
  create: [CREATE, 'POST /invoices', BILL],
  compute_value: ['POST /invoices/{id}/compute', BILL, FINALIZE],
  compute_zero: ['POST /invoices/{id}/compute', BILL, FINALIZE],
  finalize: ['POST /invoices/{id}/finalize', FINALIZE],
  void: [VOID],
  edit: ['POST /invoices/{id}/modify/execute'],
  recalculate: ['POST /invoices/{id}/recalculate'],
  pay: [PAY, 'POST /invoices/{id}/payment/attempt'],
  complete_checkout: [GATEWAY_EVENT, OUTCOME, RECONCILE],
  expire_checkout: [CANCEL_CHECKOUT, EXPIRE_CHECKOUT],
};

const checkout: CallersOf<CheckoutTrigger> = {
  create: [CHECKOUT],
  offer_payment: [CHECKOUT],
  fail: [GATEWAY_EVENT, RECONCILE],
  complete: [GATEWAY_EVENT, OUTCOME, RECONCILE],
  expire: [EXPIRE_CHECKOUT],
  cancel: [CANCEL_CHECKOUT],
  receive_late_money: [GATEWAY_EVENT, OUTCOME, RECONCILE],
};

const wallet: CallersOf<WalletTrigger> = {
  create: ['POST /wallets', GRANT],
  credit: [TOP_UP, GRANT],
  debit: [DEBIT, FINALIZE],
  terminate: [TERMINATE],
  convert: [CONVERT],
  freeze: ['maintain freeze-wallet'],
  unfreeze: ['maintain unfreeze-wallet'],
};

const transaction: CallersOf<TransactionTrigger> = {
  record: [TOP_UP, DEBIT, GRANT],
  request: [TOP_UP],
  complete: [PAY, GATEWAY_EVENT],
  fail: [VOID, TERMINATE, CANCEL_CHECKOUT],
  reverse: [VOID, REFUND],
};

const creditNote: CallersOf<CreditNoteTrigger> = {
  create: [NOTE],
  finalize: ['POST /creditnotes/{id}/finalize', NOTE],
  void: ['POST /creditnotes/{id}/void'],
};

const refund: CallersOf<RefundTrigger> = {
  create: [REFUND, NOTE, VOID],
  record: [GATEWAY_EVENT],
  accept: [REFUND, NOTE, VOID, GATEWAY_EVENT, RECONCILE],
  succeed: [REFUND, NOTE, VOID, GATEWAY_EVENT, RECONCILE],
  fail: [REFUND, NOTE, VOID, GATEWAY_EVENT, RECONCILE],
  cancel: [GATEWAY_EVENT, RECONCILE],
  retry: [RETRY_REFUND],
};

const grantApplication: CallersOf<GrantApplicationTrigger> = {
  schedule: [CREATE, GRANT],
  apply: [CREATE, GRANT],
  fail: [GRANT],
  skip: [GRANT],
  defer: [GRANT],
  cancel: [GRANT],
};

/** A machine whose triggers are its states: a caller for each target. */
const payment: CallersOf<(typeof paymentMachine)['states'][number]> = {
  INITIATED: [PUT_PAYMENT],
  PENDING: [PUT_PAYMENT, GATEWAY_EVENT, RECONCILE],
  PROCESSING: [PUT_PAYMENT, GATEWAY_EVENT, RECONCILE],
  SUCCEEDED: [PUT_PAYMENT, PAY, GATEWAY_EVENT, RECONCILE],
  OVERPAID: [PUT_PAYMENT],
  FAILED: [PUT_PAYMENT, GATEWAY_EVENT, RECONCILE],
  REFUNDED: [REFUND, NOTE, GATEWAY_EVENT],
  PARTIALLY_REFUNDED: [REFUND, NOTE, GATEWAY_EVENT],
  VOIDED: [PUT_PAYMENT, VOID, CANCEL_CHECKOUT, EXPIRE_CHECKOUT],
};

const invoicePayment: CallersOf<(typeof invoicePaymentMachine)['states'][number]> = {
  PENDING: [REPORT],
  SUCCEEDED: [REPORT],
  OVERPAID: [REPORT],
  FAILED: [REPORT],
  // Payments in flight, refunds and voids have records of their own; the status is derived from them.
  INITIATED: [],
  PROCESSING: [],
  REFUNDED: [],
  PARTIALLY_REFUNDED: [],
  VOIDED: [],
};

const task: CallersOf<(typeof taskMachine)['states'][number]> = {
  PENDING: ['POST /tasks'],
  PROCESSING: [PUT_TASK, IMPORT],
  COMPLETED: [IMPORT, 'job sync-plan-prices'],
  FAILED: [PUT_TASK, IMPORT],
};

export const MACHINES: readonly DescribedMachine[] = [
  { machine: subscriptionMachine, moves: 'moveSubscription', callers: subscription },
  { machine: pauseMachine, moves: 'movePause', callers: pause },
  { machine: invoiceMachine, moves: 'moveInvoice', callers: invoice },
  { machine: invoicePaymentMachine, moves: 'moveInvoicePayment', callers: invoicePayment },
  { machine: paymentMachine, moves: 'movePayment', callers: payment },
  { machine: refundMachine, moves: 'moveRefund', callers: refund },
  { machine: creditNoteMachine, moves: 'moveCreditNote', callers: creditNote },
  { machine: checkoutMachine, moves: 'moveCheckout', callers: checkout },
  { machine: walletMachine, moves: 'moveWallet', callers: wallet },
  { machine: transactionMachine, moves: 'moveTransaction', callers: transaction },
  { machine: grantApplicationMachine, moves: 'moveGrantApplication', callers: grantApplication },
  { machine: taskMachine, moves: 'moveTask', callers: task },
];
