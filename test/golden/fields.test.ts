import type { JsonObject } from './compare.ts';
import { registry } from './operations/registry.ts';
import { runCase } from './run-golden.ts';

const run = (area: string, given: JsonObject, expected: JsonObject) =>
  runCase({ id: 'case', area, given, expect: expected }, registry, []);

const FLAT = { billing_model: 'FLAT_FEE', currency: 'usd', amount: '1' };
const QUARTERS = {
  operation: 'process_periods', start_date: '2025-01-31T00:00:00Z', end_date: null, cancel_at: null,
  current_period_start: '2025-01-31T00:00:00Z', current_period_end: '2025-04-30T00:00:00Z',
  billing_period: 'QUARTERLY',
}; // prettier-ignore
const WINDOWED = {
  operation: 'windowed_line_item_commitment', window_size_minutes: 15,
  period_start: '2026-03-01T00:00:00Z', period_end: '2026-03-01T01:00:00Z',
  usage_by_window: [{ window_start: '2026-03-01T00:30:00Z', quantity: '15' }],
  line_item: {
    price: FLAT, commitment_type: 'amount', commitment_value: '10', overage_factor: '2', true_up_enabled: true,
  },
}; // prettier-ignore
const DRAFTED = {
  total: '50', amount_paid: '0', payment_status: 'PENDING', invoice_status: 'DRAFT', lines: { a: '50' },
}; // prettier-ignore
const REFERENCE = {
  subscription: { start_date: '2026-01-15T00:00:00Z', billing_period: 'MONTHLY' },
  line_items: [
    { amount: '10', invoice_cadence: 'ARREAR' },
    { amount: '20', invoice_cadence: 'ADVANCE' },
  ],
};
const SLABS = [{ threshold: '5000', operator: 'gte', bonus: { type: 'flat', value: '750' } }];

/** A field that only some cases of an operation have changes what is answered. */
test.each<[string, string, JsonObject, JsonObject]>([
  ['now: boundaries that were missed are caught up', 'lifecycle',
    { ...QUARTERS, now: '2025-08-01T00:00:00Z' },
    { subscription_status: 'active', current_period_start: '2025-07-31T00:00:00Z', current_period_end: '2025-10-31T00:00:00Z' }],
  ['cancel_at of a scheduled cancellation', 'lifecycle',
    { operation: 'cancel', cancellation_type: 'scheduled_date', cancel_at: '2026-01-20T00:00:00Z', now: '2026-01-10T00:00:00Z' },
    { subscription_status: 'active', cancel_at: '2026-01-20T00:00:00Z', cancel_at_period_end: false }],
  ['pause_start of a scheduled pause', 'lifecycle',
    { operation: 'pause', pause_mode: 'scheduled', pause_start: '2026-01-20T00:00:00Z' },
    { subscription_status: 'active', pause_status: 'scheduled' }],
  ['billing_period of a plan price: a one-time price has no trial', 'lifecycle',
    { operation: 'trial_window', start_date: '2026-01-01T00:00:00Z', plan_prices: [{ type: 'FIXED', trial_period: 14, billing_period: 'ONETIME' }] },
    { trial_start: null, trial_end: null }],
  ['billing_period_count of the first period', 'lifecycle',
    { operation: 'create_subscription_period', start_date: '2024-01-31T00:00:00Z', end_date: null, billing_period: 'MONTHLY', billing_cycle: 'anniversary', billing_period_count: 2 },
    { current_period_end: '2024-03-31T00:00:00Z' }],
  ['identical_price: another amount is another line', 'lifecycle',
    { operation: 'plan_change_v2', identical_price: false },
    { line_item_kept: false, new_invoices: 1 }],
  ['subscription_status: only a trial has an end to move', 'lifecycle',
    { operation: 'modify_trial_end', subscription_status: 'active', new_trial_end: '2026-03-13T00:00:00Z', now: '2026-03-10T00:00:00Z' },
    { error: true }],
  ['is_enabled: a disabled entitlement makes nothing free', 'entitlements',
    { operation: 'usage_charge_with_entitlement', price: FLAT, usage: '12', entitlement: { usage_limit: 10, is_enabled: false } },
    { billable_quantity: '12', amount: '12' }],
  ['line_item_end cuts the usage', 'entitlements',
    { operation: 'never_reset_usage', subscription_start: '2025-01-01T00:00:00Z', line_item_start: '2025-01-01T00:00:00Z', line_item_end: '2025-02-10T00:00:00Z', period_start: '2025-02-01T00:00:00Z', period_end: '2025-03-01T00:00:00Z', usage_limit: 10,
      usage: [{ date: '2025-02-05T00:00:00Z', value: '12' }, { date: '2025-02-20T00:00:00Z', value: '5' }] },
    { billable_quantity: '2' }],
  ['window_size_minutes of a quarter of an hour', 'commitments', WINDOWED,
    { computed_commitment_utilized_amount: '10', computed_overage_amount: '10', computed_true_up_amount: '30', total: '50' }],
  ['bonus_credits_to_add left out: the slab applies', 'wallets',
    { operation: 'topup_with_bonus', slabs: SLABS, credits_to_add: '6000', transaction_reason: 'PURCHASED_CREDIT_DIRECT' },
    { bonus_credits: '750', credit_balance: '6750' }],
  ['now: an expiry before it is refused', 'wallets',
    { operation: 'wallet_operations', now: '2031-01-01T00:00:00Z', operations: [{ type: 'credit', credits: '1', expiry_date: '20300101' }] },
    { error_on_operation: 1 }],
  ['allowed_price_types of a prepaid wallet', 'wallets',
    { operation: 'apply_prepaid_credits', currency: 'usd', line_items: [{ price_type: 'FIXED', amount: '100' }], wallets: [{ id: 'w', balance: '40', allowed_price_types: ['ALL'] }] },
    { prepaid_credits_applied: ['40'], wallet_debits: { w: '40' } }],
  ['subscription_status: a pause skips a grant', 'credit_grants',
    { operation: 'credit_grant', expiration_type: 'NEVER', application_period_start: '2026-03-01T00:00:00Z', subscription: { subscription_status: 'paused' } },
    { application_status: 'skipped', credits_added: '0' }],
  ['invoice_status: a draft takes no credit note', 'refunds_credit_notes',
    { operation: 'create_credit_note', invoice: DRAFTED, line_items: { a: '10' } },
    { error: true }],
  ['adjustment_amount: earlier notes lower what is left', 'refunds_credit_notes',
    { operation: 'create_credit_note', invoice: { ...DRAFTED, invoice_status: 'FINALIZED', adjustment_amount: '45' }, line_items: { a: '10' } },
    { error: true }],
  ['reference_point: advances of the period that starts', 'invoice',
    { operation: 'subscription_invoice', reference_point: 'period_start', ...REFERENCE },
    { line_item_ids: ['1'], amount_due: '20' }],
  ['period_start: a later period of the subscription', 'invoice',
    { operation: 'subscription_invoice', reference_point: 'period_end', ...REFERENCE, period_start: '2026-05-15T00:00:00Z' },
    { line_item_ids: ['0', '1'], amount_due: '30', invoice_status: 'DRAFT' }],
  ['total_prepaid_credits_applied: credits return beside the refund', 'refunds_credit_notes',
    { operation: 'void_invoice', invoice_status: 'FINALIZED', amount_paid: '30', total_prepaid_credits_applied: '20', prepaid_wallet_balance: '50' },
    { refund: '30', wallet_balance: '100' }],
  ['cancelled_at: whoever was cancelled in the window owns usage of it', 'metering',
    { operation: 'usage_attribution', subscriptions: [{ id: 'a', cancelled_at: 'before_window' }, { id: 'b', cancelled_at: 'in_window' }] },
    { attributed_to: ['b'] }],
  ['tax_behavior: an inclusive tax is in the total', 'taxes',
    { operation: 'invoice_tax', subtotal: '110', percentage_value: '10', tax_behavior: 'inclusive' },
    { total_tax: '10', total: '110' }],
])('%s', (_field, area, given, expected) => {
  expect(run(area, given, expected)).toEqual({ kind: 'passed' });
}); // prettier-ignore

/** A word that changes the question is known, or the case is not supported. */
test.each<[string, JsonObject, string]>([
  ['pricing', { ...FLAT, quantity: '1', commitment: { type: 'quantity', amount: '1', overage_factor: '1', true_up_enabled: true } }, 'commitment.type: "quantity"'],
  ['invoice', { operation: 'subscription_invoice', reference_point: 'preview' }, 'reference_point: "preview"'],
  ['invoice', { operation: 'draft_line_item_edits', edits: [{ existing: '1' }, { split: 2 }] }, 'edit: {"split":2}'],
  ['entitlements', { operation: 'bill_grant_overage', measure: 'amount', price: FLAT, grants: [] }, 'measure: "amount"'],
  ['wallets', { operation: 'wallet_operations', operations: [{ type: 'transfer', credits: '1' }] }, 'type: "transfer"'],
  ['wallets', { operation: 'auto_topup', history: ['refunded'], auto_topup: { enabled: true, threshold: '1', amount: '1' }, balance: '0' }, 'history: "refunded"'],
  ['credits', { credits: [], operations: [{ type: 'transfer', at: '2026-01-01T00:00:00Z', credits: '1' }] }, 'type: "transfer"'],
  ['proration', { operation: 'prorate_line_item', kind: 'swap', current_period_start: '2026-01-01T00:00:00Z', current_period_end: '2026-02-01T00:00:00Z', effective_date: '2026-01-11T00:00:00Z' }, 'kind: "swap"'],
  ['taxes', { operation: 'subscription_tax_modification', action: 'replace' }, 'action: "replace"'],
  ['metering', { operation: 'usage_attribution', subscriptions: [{ id: 's', cancelled_at: 'soon' }] }, 'cancelled_at: "soon"'],
  ['commitments', { ...WINDOWED, window_size_minutes: 7 }, 'window_size_minutes: 7'],
])('%s %j is not supported: %s', (area, given, word) => {
  const name = String(given['operation'] ?? 'peers');
  expect(run(area, given, {})).toEqual({ kind: 'unsupported', what: `${name}, ${word}` });
}); // prettier-ignore
