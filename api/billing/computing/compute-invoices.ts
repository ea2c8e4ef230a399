import assert from 'node:assert/strict';
import { taxesToPin } from '../../../domain/invoicing/pinned-taxes.ts';
import { skipsAsZero } from '../../../domain/invoicing/zero-invoice.ts';
import type { UsageAnswers, UsageReader } from '../../../domain/metering/usage.ts';
import { moveInvoice } from '../../../domain/states/invoice.ts';
import type { Charge, InvoiceScope } from '../../../domain/subscription/charges.ts';
import { chargesAroundPauses, type PausedTime } from '../../../domain/subscription/paused-time.ts';
import { payerOf } from '../../../domain/subscription/hierarchy.ts';
import { isRestart, paidSchedule } from '../../../domain/subscription/schedule.ts';
import type { Db, Scope } from '../../../postgres/client.ts';
import type { CouponAssociation } from '../../../schemas/coupon.ts';
import type {
  InvoiceLineRecord,
  InvoiceRecord,
  StoredWatermarks,
} from '../../../schemas/invoice.ts';
import type { BillingDeps, UsageDeps } from '../../deps.ts';
import { groupBy } from '../../conventions/group-by.ts';
import type { OwnedTaxAssociation } from '../../catalog/taxes/repository.ts';
import { readBillingSources, type BilledLine, type BillingSources } from './billing-sources.ts';
import {
  rateCharges,
  waiveForTrial,
  type QuestionedCharge,
  type RatedCharge,
} from './rate-charges.ts';
import { sourcesOfPeriod } from '../../catalog/entitlements/entitlement-sources.ts';
import { commitCharges } from './subscription-commitments.ts';
import { applicationRecords, couponsOf } from './coupon-applications.ts';
import { invoiceLine, newInvoice } from './invoice-record.ts';
import type { ComputedInvoice, InvoiceTarget } from './invoice-target.ts';
import { advancesPinnedFrom, isPinnedAdvance, withPinnedAdvances } from './pinned-advances.ts';
import { linesOfInvoices } from '../records/invoice-line-repository.ts';
import { ledgersOf } from '../records/ledger-repository.ts';
import { EMPTY_LEDGER, type InvoiceLedger } from '../../../domain/invoicing/payment-ledger.ts';
import { readInvoiceConfig, type BillingInvoiceConfig } from './invoice-config.ts';
import { graceEnd } from './targets.ts';
import { dueOn, NO_CREDITS, settle } from './settle.ts';
import { withGrouped } from './grouped-targets.ts';
import {
  couponsIn,
  invoiceCustomCurrency,
  reconverted,
  settlementIn,
  settlementsOf,
  type Settlement,
} from './settlement-currency.ts';
import { taxesOf, taxRecords } from './tax-rows.ts';
import { storeWatermarks } from './stored-watermarks.ts';
import { readShownUsage } from '../../usage/quantities/ask-usage.ts';
import {
  asksOfQuestion,
  lineQuestion,
  queriesOf,
  type LineQuestion,
  type UsageLine,
  type UsagePurpose,
} from './line-questions.ts';

/** A subscription that cannot be billed must not block the others of its page. */
export type Computation =
  | { readonly ok: true; readonly computed: ComputedInvoice }
  | { readonly ok: false; readonly target: InvoiceTarget; readonly error: unknown };

export interface ComputeOptions {
  /** The time of the computation. */
  readonly at: string;
  readonly user_id: string;
  /** Upper bound of the usage read: billing never reads beyond the watermark (metering 5). */
  readonly bound?: Parameters<UsageReader['read']>[1];
  /**
   * Line items not stored yet, by subscription: the opening invoice is computed before its subscription is
   * stored.
   */
  readonly lines?: ReadonlyMap<string, readonly BilledLine[]>;
  /** Coupons not stored yet, by subscription. */
  readonly coupons?: ReadonlyMap<string, readonly CouponAssociation[]>;
  /** Taxes not stored yet, in addition to the stored ones. */
  readonly taxes?: readonly OwnedTaxAssociation[];
  /** The invoices are issued with these numbers. */
  readonly isFinal?: boolean;
  /** Include what other invoices have already billed: for previews. */
  readonly ignoreBilled?: boolean;
  /** The numbers are shown and never billed: these stores answer usage that is still backfilled. */
  readonly shownFrom?: UsageDeps;
}

type ComputeDeps = Pick<BillingDeps, 'ids' | 'usageReader'>;

/**
 * Computes a page of invoices: reads the billing sources, queries all usage in one call, rates, and builds.
 * Writes nothing, and the same input gives the same rows with the same ids (billing 17.2). If usage
 * cannot be read completely, nothing is computed.
 */
export async function computeInvoices(
  deps: ComputeDeps,
  db: Db,
  scope: Scope,
  requested: readonly InvoiceTarget[],
  options: ComputeOptions,
): Promise<Computation[]> {
  if (requested.length === 0) return [];
  const targets = await withGrouped(db, scope, requested, options.at);
  const sources = await sourcesOf(db, scope, targets, options);
  const config = await readInvoiceConfig(db, scope);
  const settlements = await settlementsOf(
    db,
    scope,
    targets.map(({ subscription }) => subscription.currency),
  );
  const planned = targets.map((target) =>
    attempt(() =>
      partsOf(target).map((part) => ({
        target: part,
        charges: planCharges(part, sources, options),
      })),
    ),
  );
  const questions = planned.flatMap((plan) =>
    plan.ok ? plan.value.flatMap(({ charges }) => charges.flatMap((c) => c.questions)) : [],
  );
  const usage = questions.length === 0 ? null : await readUsage(deps, questions, options);
  const knownIds = targets.flatMap(({ invoice }) => invoice?.id ?? []);
  const replacedIds = targets.flatMap(({ replaces }) => replaces ?? []);
  const known = await linesOfInvoices(db, scope, [...knownIds, ...replacedIds]);
  const ledgers = await ledgersOf(db, scope, knownIds);
  const rowsOf = groupBy(known, ({ invoice_id }) => invoice_id);

  return targets.map((target, index) => {
    const plan = planned[index]!;
    if (!plan.ok) return { ok: false, target, error: plan.error };
    const rows = rowsOf.get(target.invoice?.id ?? '') ?? [];
    const replaced = rowsOf.get(target.replaces ?? '') ?? [];
    const ledger = ledgers.get(target.invoice?.id ?? '') ?? EMPTY_LEDGER;
    const built = attempt(() =>
      computeInvoice(deps, target, plan.value, {
        sources,
        usage,
        rows,
        replaced,
        ledger,
        options,
        config,
        settlement: settlementIn(settlements, target.subscription.currency),
      }),
    );
    return built.ok
      ? { ok: true, computed: built.value }
      : { ok: false, target, error: built.error };
  });
}

function readUsage(
  deps: ComputeDeps,
  questions: readonly LineQuestion[],
  { shownFrom, bound = 'watermark' }: ComputeOptions,
): Promise<UsageAnswers> {
  return shownFrom === undefined
    ? deps.usageReader.read(questions.flatMap(queriesOf), bound)
    : readShownUsage(shownFrom, questions.flatMap(asksOfQuestion));
}

/** The invoice's own subscription, then the grouped ones. */
const partsOf = (target: InvoiceTarget): readonly InvoiceTarget[] => [
  target,
  ...(target.grouped ?? []),
];

/** A subscription of an invoice with its charges. */
interface PlannedPart {
  readonly target: InvoiceTarget;
  readonly charges: readonly QuestionedCharge[];
}

/** The only computation; rethrows its error. */
export function onlyComputed(computations: readonly Computation[]): ComputedInvoice {
  const [only] = computations;
  assert(computations.length === 1 && only !== undefined, 'one invoice was computed');
  if (!only.ok) throw only.error;
  return only.computed;
}

type Attempt<Value> =
  { readonly ok: true; readonly value: Value } | { readonly ok: false; readonly error: unknown };

function attempt<Value>(work: () => Value): Attempt<Value> {
  try {
    return { ok: true, value: work() };
  } catch (error) {
    return { ok: false, error };
  }
}

async function sourcesOf(
  db: Db,
  scope: Scope,
  targets: readonly InvoiceTarget[],
  options: ComputeOptions,
): Promise<BillingSources> {
  const starts = targets.map(({ period }) => period.start);
  const from = starts.reduce((left, right) => (left < right ? left : right));
  const sources = await readBillingSources(
    db,
    scope,
    targets.flatMap(partsOf).map(({ subscription }) => subscription),
    from,
  );
  return {
    ...sources,
    ...(options.lines === undefined ? {} : { lines: options.lines }),
    ...(options.coupons === undefined ? {} : { coupons: options.coupons }),
    taxes: [...sources.taxes, ...(options.taxes ?? [])],
    ...(options.ignoreBilled === true ? { billed: oneTimeOnly(sources) } : {}),
  };
}

/** A preview repeats recurring charges that are billed already, but never a one-time charge. */
function oneTimeOnly({ lines, billed }: BillingSources): BillingSources['billed'] {
  const oneTime = new Set(
    [...lines.values()]
      .flat()
      .flatMap((line) => (line.billing_period === 'ONETIME' ? line.id : [])),
  );
  return new Map([...billed].filter(([lineId]) => oneTime.has(lineId)));
}

function planCharges(
  target: InvoiceTarget,
  sources: BillingSources,
  { isFinal, shownFrom }: Pick<ComputeOptions, 'isFinal' | 'shownFrom'>,
): QuestionedCharge[] {
  const purpose = shownFrom !== undefined ? 'shown' : isFinal === true ? 'final' : 'draft';
  const { subscription } = target;
  const lines = sources.lines.get(subscription.id) ?? [];
  const pinnedFrom = advancesPinnedFrom(target);
  const pauses = pausesOf(target, sources);
  const charges = chargesOf(target, lines, pauses).filter(({ line, cell }) => {
    const start = 'at' in cell ? cell.at : cell.service.start;
    if (isPinnedAdvance(line, start, pinnedFrom)) return false;
    return !isBilledElsewhere(target, sources, line, start);
  });
  return charges.map((charge) => {
    const { line, cell } = charge;
    if (line.price_type === 'FIXED' || 'at' in cell) return { charge, questions: [] };
    return { charge, questions: [lineQuestion(usageLineOf(target, sources, line, purpose), cell)] };
  });
}

/** Pauses of the subscription. The one that ends with this invoice has ended, although it is not stored so yet. */
function pausesOf({ subscription, period }: InvoiceTarget, sources: BillingSources) {
  const pauses = sources.pauses.get(subscription.id) ?? [];
  if (subscription.subscription_status !== 'active') return pauses;
  return pauses.map(({ start, end }) => ({ start, end: end ?? period.start }));
}

/** The charges of the two periods, each on the grid that it has: a plan change may move the anchor (billing 14.2). */
function chargesOf(
  { subscription, billing_reason, covers }: InvoiceTarget,
  lines: readonly BilledLine[],
  pauses: readonly PausedTime[],
): Charge<BilledLine>[] {
  // Trial time is never billed; only the preview of a trial shows it, at 0 (billing 10.4).
  if (billing_reason === 'SUBSCRIPTION_TRIAL_START')
    return chargesAroundPauses(subscription, lines, covers, pauses);
  const { closing, opening } = covers;
  const until = closing?.end ?? null;
  if (closing === null || until === null || !isRestart(subscription, until)) {
    const schedule = paidSchedule(subscription, (closing ?? opening)?.start);
    return chargesAroundPauses(schedule, lines, covers, pauses);
  }
  const charges = (scope: InvoiceScope) =>
    chargesAroundPauses(
      paidSchedule(subscription, (scope.closing ?? scope.opening)!.start),
      lines,
      scope,
      pauses,
    );
  const ended = charges({ closing, opening: null }).map(uncut);
  const begun = opening === null ? [] : charges({ closing: null, opening });
  const isUsage = ({ line }: Charge<BilledLine>) => line.price_type === 'USAGE';
  return [...begun, ...ended.filter((charge) => !isUsage(charge)), ...ended.filter(isUsage)];
}

/** Fees of a period that a plan change has ended pay their slice, as if their lines had ended there (billing 5.2). */
const uncut = (charge: Charge<BilledLine>): Charge<BilledLine> => {
  const { line, cell } = charge;
  if ('at' in cell || line.price_type !== 'FIXED') return charge;
  const uncutCell = { start: cell.cell.start, end: cell.reference.end };
  return { line, cell: { ...cell, cell: uncutCell } };
};

/** The inputs of a usage line's queries, for the billing period of the target. */
export function usageLineOf(
  target: Pick<InvoiceTarget, 'subscription' | 'proration_behavior' | 'period'>,
  sources: BillingSources,
  line: BilledLine,
  purpose: UsagePurpose,
): UsageLine {
  const { subscription, proration_behavior, period } = target;
  const customer = sources.customers.get(subscription.customer_id);
  assert(customer !== undefined, `customer ${subscription.customer_id} of a subscription exists`);
  return {
    subscription,
    line,
    siblings: sources.lines.get(subscription.id) ?? [],
    proration_behavior,
    entitlements: sourcesOfPeriod(
      (sources.entitlements.get(subscription.id) ?? []).filter(
        ({ meter_id }) => meter_id === line.meter_id,
      ),
      subscription,
      period.end,
    ),
    external_customer_id: customer.external_id,
    pool: sources.pools.get(subscription.id) ?? [],
    versions: sources.meterVersions.get(line.meter_id ?? '') ?? [],
    period_start: period.start,
    purpose,
  };
}

/** Whether another living invoice already charges the service (billing 3.1). */
function isBilledElsewhere(
  target: InvoiceTarget,
  sources: BillingSources,
  line: BilledLine,
  serviceStart: string,
): boolean {
  const billed = sources.billed.get(line.id) ?? [];
  return billed.some(
    ({ invoice_id, period_start, kind }) =>
      kind === 'base' &&
      period_start === serviceStart &&
      invoice_id !== target.invoice?.id &&
      invoice_id !== target.replaces,
  );
}

interface Findings {
  readonly sources: BillingSources;
  /** Null if no query was needed. */
  readonly usage: UsageAnswers | null;
  /** The current rows of the invoice. */
  readonly rows: readonly InvoiceLineRecord[];
  /** The rows of the invoice that it replaces. */
  readonly replaced: readonly InvoiceLineRecord[];
  readonly ledger: InvoiceLedger;
  readonly options: ComputeOptions;
  readonly config: BillingInvoiceConfig;
  /** Null for a subscription in a currency of ISO 4217. */
  readonly settlement: Settlement | null;
}

function computeInvoice(
  deps: ComputeDeps,
  target: InvoiceTarget,
  parts: readonly PlannedPart[],
  { sources, usage, rows, replaced, ledger, options, config, settlement }: Findings,
): ComputedInvoice {
  const { subscription, billing_reason } = target;
  const invoice_id = target.invoice?.id ?? deps.ids.next('inv');
  const committed = parts.map((part) => ratedPart(part, sources, usage, options));
  const charged = committed.flatMap((part) =>
    part.charges.map((charge) => ({ charge, target: part.target })),
  );
  const lines = charged.map(({ charge, target: part }, position) =>
    invoiceLine(deps, {
      target: part,
      invoice_id,
      settlement,
      payer_id: payerOf(subscription),
      grouped_customer:
        part === target ? null : sources.customers.get(part.subscription.customer_id)!,
      charge,
      position,
      rows,
      computing: options,
      plan_name: sources.planNames.get(part.subscription.plan_id) ?? null,
    }),
  );
  // The voided invoice keeps its rows; those that stand are written again.
  const standing =
    target.replaces === undefined
      ? rows
      : replaced.map((row) => ({ ...row, id: deps.ids.next('inv_line'), invoice_id }));
  const all = withPinnedAdvances(target, sources, standing, lines).map((line) =>
    reconverted(settlement, line),
  );
  const isZero = skipsAsZero(
    { invoice_type: 'SUBSCRIPTION', billing_reason, is_manually_edited: false },
    all,
  );
  const draft = target.invoice ?? newInvoice(target, invoice_id, options);
  const charges = parts.flatMap((part) => part.charges);
  const taxes = taxesOf(target, sources, settlement?.currency ?? subscription.currency);
  const versions = charges.flatMap(({ questions }) => questions.map(({ version }) => version.id));
  const settled = settle(
    {
      ...draft,
      currency: settlement?.currency ?? draft.currency,
      custom_currency: invoiceCustomCurrency(settlement, all),
      invoice_status: moveInvoice(draft.invoice_status, isZero ? 'compute_zero' : 'compute_value'),
      due_date: draft.due_date_given
        ? draft.due_date
        : dueOn(issuedAt(target, options.at), subscription, config.due_date_days),
      last_computed_at: options.at,
      meter_version_ids: [...new Set(versions)].sort(),
      pinned_taxes: taxesToPin(taxes, target.period, options.at),
      usage_watermarks:
        usage === null || versions.length === 0 ? null : storeWatermarks(usage.watermarks),
      committed_usage: committed.flatMap((part) => part.committed_usage),
      grouped_subscription_ids: (target.grouped ?? []).map((part) => part.subscription.id),
      finalize_after: finalizeAfter(target, config),
      updated_at: options.at,
      updated_by: options.user_id,
    },
    all,
    {
      coupons: couponsIn(
        settlement,
        partsOf(target).flatMap((part) => couponsOf(part, sources)),
      ),
      taxes,
      ...NO_CREDITS,
      ledger,
    },
  );
  const { applications, invoice, lines: settledLines } = settled;
  // A skipped invoice has no tax (billing 17.3).
  const taxRows = isZero ? [] : taxRecords(deps, invoice, settled.taxes);
  const coupon_applications = applicationRecords(deps, invoice, applications, {
    coupons: partsOf(target).flatMap((part) => sources.coupons.get(part.subscription.id) ?? []),
    lines: settledLines,
    standing: target.invoice?.coupon_applications ?? [],
  });
  return {
    target,
    sources,
    invoice: { ...invoice, coupon_applications, taxes: taxRows },
    lines: settledLines,
  };
}

/** The rows of one subscription, under its own commitment. */
function ratedPart(
  { target, charges }: PlannedPart,
  sources: BillingSources,
  usage: UsageAnswers | null,
  options: ComputeOptions,
) {
  const earlier = (sources.committedUsage.get(target.subscription.id) ?? []).filter(
    (entry) => entry.invoice_id !== target.invoice?.id && entry.invoice_id !== target.replaces,
  );
  const until = target.period.end > options.at ? options.at : null;
  const rated = rateCharges({ ...target, earlier, until }, charges, usage?.answers ?? new Map());
  const shown =
    target.billing_reason === 'SUBSCRIPTION_TRIAL_START'
      ? { charges: waiveForTrial(rated, target.period), committed_usage: [] }
      : commitCharges(target, rated, earlier);
  return { ...shown, target };
}

/**
 * A cycle's draft is shown as if issued at the end of its period, any other draft as if issued now (17.5).
 */
function issuedAt(target: InvoiceTarget, at: string): string {
  return target.billing_reason === 'SUBSCRIPTION_CYCLE' ? target.period.end : at;
}

/** A new draft waits as long as the tenant says, or else as the operator says (billing 17.4). */
function finalizeAfter(
  { finalize_after, invoice, subscription, period }: InvoiceTarget,
  { finalization_delay_seconds: grace_seconds }: BillingInvoiceConfig,
): string | null {
  if (finalize_after === null || invoice !== null || grace_seconds === null) return finalize_after;
  return graceEnd(subscription, period, { grace_seconds });
}
