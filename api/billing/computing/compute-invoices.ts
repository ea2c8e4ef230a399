import assert from 'node:assert/strict';
import { EMPTY_LEDGER } from '../../../domain/invoicing/payment-ledger.ts';
import type { UsageAnswers, UsageReader } from '../../../domain/metering/usage.ts';
import type { Db, Scope } from '../../../postgres/client.ts';
import type { StoredCouponAssociation } from '../../catalog/coupons/repository.ts';
import type { OwnedTaxAssociation } from '../../catalog/taxes/repository.ts';
import { groupBy } from '../../../domain/group-by.ts';
import type { BillingDeps, UsageDeps } from '../../deps.ts';
import { readShownUsage } from '../../usage/quantities/ask-usage.ts';
import { linesOfInvoices } from '../records/invoice-line-repository.ts';
import { ledgersOf } from '../records/ledger-repository.ts';
import { readBillingSources, type BilledLine, type BillingSources } from './billing-sources.ts';
import {
  buildComputedInvoice,
  type InvoiceFacts,
  type PlannedPart,
} from './build-computed-invoice.ts';
import { partsOf, withGrouped } from './grouped-targets.ts';
import { readInvoiceConfig } from './invoice-config.ts';
import type { ComputedInvoice, InvoiceTarget } from './invoice-target.ts';
import {
  asksOfQuestion,
  queriesOf,
  type LineQuestion,
  type UsagePurpose,
} from './line-questions.ts';
import { planCharges } from './plan-charges.ts';
import { settlementIn, settlementsOf } from './settlement-currency.ts';

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
  readonly coupons?: ReadonlyMap<string, readonly StoredCouponAssociation[]>;
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
  return await buildPlanned(deps, await planInvoices(db, scope, requested, options), options);
}

/** An invoice of which everything is known but its usage. */
export interface PlannedInvoice {
  readonly target: InvoiceTarget;
  readonly parts: Attempt<readonly PlannedPart[]>;
  readonly facts: Omit<InvoiceFacts, 'usage'>;
}

/**
 * All that `computeInvoices` reads from Postgres. A caller with a transaction ends it before `buildPlanned`, so that no
 * lock waits for ClickHouse (docs/decisions/0008-idempotent-commands.md).
 */
export async function planInvoices(
  db: Db,
  scope: Scope,
  requested: readonly InvoiceTarget[],
  options: ComputeOptions,
): Promise<PlannedInvoice[]> {
  const targets = await withGrouped(db, scope, requested, options.at);
  const sources = await sourcesOf(db, scope, targets, options);
  const config = await readInvoiceConfig(db, scope);
  const settlements = await settlementsOf(
    db,
    scope,
    targets.map(({ subscription }) => subscription.currency),
  );
  const knownIds = targets.flatMap(({ invoice }) => invoice?.id ?? []);
  const replacedIds = targets.flatMap((target) => replacedBy(target) ?? []);
  const known = await linesOfInvoices(db, scope, [...knownIds, ...replacedIds]);
  const ledgers = await ledgersOf(db, scope, knownIds);
  const rowsOf = groupBy(known, ({ invoice_id }) => invoice_id);
  const purpose = purposeOf(options);
  return targets.map((target) => ({
    target,
    parts: attempt(() =>
      partsOf(target).map((part) => ({
        target: part,
        charges: planCharges(part, sources, purpose),
      })),
    ),
    facts: {
      sources,
      rows: rowsOf.get(target.invoice?.id ?? '') ?? [],
      replaced: rowsOf.get(replacedBy(target) ?? '') ?? [],
      ledger: ledgers.get(target.invoice?.id ?? '') ?? EMPTY_LEDGER,
      computing: options,
      config,
      settlement: settlementIn(settlements, target.subscription.currency),
    },
  }));
}

/** Queries the usage of planned invoices in one call, rates it, and builds the invoices. */
export async function buildPlanned(
  deps: ComputeDeps,
  planned: readonly PlannedInvoice[],
  options: ComputeOptions,
): Promise<Computation[]> {
  return (await readPlanned(deps, planned, options))();
}

/**
 * Queries the usage of planned invoices in one call. The returned function rates it and builds the invoices; it reads
 * nothing, so a caller may build in the transaction that writes them. New invoices and rows get their ids then.
 */
export async function readPlanned(
  deps: ComputeDeps,
  planned: readonly PlannedInvoice[],
  options: ComputeOptions,
): Promise<() => Computation[]> {
  const questions = planned.flatMap(({ parts }) =>
    parts.ok ? parts.value.flatMap(({ charges }) => charges.flatMap((c) => c.questions)) : [],
  );
  const usage = questions.length === 0 ? null : await readUsage(deps, questions, options);
  return () =>
    planned.map(({ target, parts, facts }) => {
      if (!parts.ok) return { ok: false, target, error: parts.error };
      const built = attempt(() =>
        buildComputedInvoice(deps, target, parts.value, { ...facts, usage }),
      );
      return built.ok
        ? { ok: true, computed: built.value }
        : { ok: false, target, error: built.error };
    });
}

/** The invoice whose fixed rows the computed one takes over. */
const replacedBy = ({ replaces, voided }: InvoiceTarget): string | undefined =>
  replaces ?? voided?.id;

function purposeOf({ isFinal, shownFrom }: ComputeOptions): UsagePurpose {
  if (shownFrom !== undefined) return 'shown';
  return isFinal === true ? 'final' : 'draft';
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
