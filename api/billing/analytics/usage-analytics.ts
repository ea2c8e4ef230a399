import { decimalText } from '../../../domain/money.ts';
import type { Period } from '../../../domain/time/instant.ts';
import type { Scope } from '../../../postgres/client.ts';
import type { Customer } from '../../../schemas/customer.ts';
import type {
  UsageAnalytics,
  UsageAnalyticsBody,
  UsageAnalyticsItem,
} from '../../../schemas/usage-analytics.ts';
import type { ApiDeps } from '../../deps.ts';
import {
  findFeatures,
  findFeaturesOfMeters,
  withEmbedded,
} from '../../catalog/features/repository.ts';
import { findEmbeddedPlans } from '../../catalog/offers/plan-repository.ts';
import { priceAnswers } from '../../catalog/prices/repository.ts';
import { lineItemAnswers } from '../records/subscription-answers.ts';
import {
  asksOf,
  figuresOf,
  gridOfPoints,
  type AnalyticsQuestion,
  type Figures,
} from './analytics-figures.ts';
import { bareMeters, usageLines, type AnalyticsSubject } from './analytics-subjects.ts';
import { askUsage } from '../../usage/quantities/ask-usage.ts';
import { addCosts, figureText, lineCost, netCost } from './cost-shares.ts';
import { findKnownCustomer } from '../../usage/quantities/known-customer.ts';
import { rangeOf } from '../../conventions/usage-range.ts';
import { rateSubjects, type DiscountedCharge } from './rate-subjects.ts';
import { subscriptionsInRange } from '../../usage/quantities/repository.ts';

/**
 * Usage and cost of one customer per usage line (or per meter if nothing is sold), with the requested groups,
 * filters and windows. The cost of a line is what its invoice would charge for the range, by the same rating:
 * with allowances, tiers, commitments and true-ups, without taxes, before rounding to the currency.
 * Percentage coupons that are not `once` are deducted, in whole minor units for each row of the invoice
 * (money 19.10). Points get a share of the cost in proportion to their usage; groups and filtered parts get a
 * share of the rated usage, without commitments. Items without events are left out.
 */
export async function usageAnalytics(
  deps: ApiDeps,
  scope: Scope,
  body: UsageAnalyticsBody & { readonly meter_ids?: readonly string[] | null },
): Promise<UsageAnalytics> {
  const range = rangeOf(deps.clock, body);
  const customer = await findKnownCustomer(deps.pool, scope, body.external_customer_id || null);
  const meterIds = await meterIdsOf(deps, scope, body);
  const names = (body.group_by ?? []).filter((entry) => !/^(feature|meter)_id$/.test(entry));
  const asked: AnalyticsQuestion = {
    scope,
    external_customer_ids: body.external_customer_id ? [body.external_customer_id] : null,
    filter_values: Object.fromEntries([
      ...Object.entries(body.property_filters ?? {}),
      ...(body.sources?.length ? [['source', body.sources] as const] : []),
    ]),
    group_by: names.map((name) => name.replace(/^properties\./s, '')),
    window_size: body.window_size ?? null,
    timezone: body.timezone ?? null,
  };
  // A group or a filtered part carries rated usage; the commitment belongs to the whole line (money 19.10).
  const isPart = names.length > 0 || Object.keys(asked.filter_values).length > 0;
  const subjects = await subjectsOf(
    deps,
    scope,
    { customer, external_customer_id: body.external_customer_id || null },
    range,
    { meterIds, terms: isPart ? 'usage_only' : 'whole' },
  );
  const rows = await askUsage(
    deps,
    subjects.flatMap((subject, number) => asksOf(subject, number, asked)),
  );
  const rated = rateSubjects(subjects, rows);
  const found = subjects.flatMap((subject, number) =>
    figuresOf(subject, number, asked, rows, rated.get(subject) ?? []).map((figures) => ({
      subject,
      figures,
    })),
  );
  const embeds = await embedsOf(deps, scope, subjects, new Set(body.expand ?? []));
  const items = found.map(({ subject, figures }) =>
    itemOf(subject, figures, {
      names,
      asked,
      embeds,
      sources: body.sources?.length ? body.sources : null,
      commitment_info: isPart ? null : commitmentOf(rated.get(subject) ?? []),
    }),
  );
  const sold = subjects.find(({ line, isShown }) => line && isShown)?.line?.currency ?? '';
  const totals = totalsOf(found);
  return {
    ...(totals[0] ?? totalOf([], sold)),
    totals,
    items,
    custom_analytics: [],
  };
}

interface Found {
  readonly subject: AnalyticsSubject;
  readonly figures: Figures;
}

/** The totals of each currency, in the order of the items (money 19.11). */
function totalsOf(found: readonly Found[]): UsageAnalytics['totals'] {
  const currencies = new Set(found.flatMap(({ subject }) => subject.line?.currency ?? []));
  return [...currencies].map((currency) =>
    totalOf(
      found.filter(({ subject }) => subject.line?.currency === currency),
      currency,
    ),
  );
}

function totalOf(found: readonly Found[], currency: string): UsageAnalytics['totals'][number] {
  const cost = addCosts(found.map(({ figures }) => figures.cost));
  return {
    subtotal: figureText(cost.cost),
    total_discount: figureText(cost.discount),
    total_cost: figureText(netCost(cost)),
    currency,
  };
}

/** The customer's usage lines; usage without a price if there is no customer or subscription. */
async function subjectsOf(
  deps: ApiDeps,
  scope: Scope,
  asked: { readonly customer: Customer | null; readonly external_customer_id: string | null },
  range: Period,
  { meterIds, terms }: { meterIds: readonly string[] | null; terms: 'whole' | 'usage_only' },
): Promise<AnalyticsSubject[]> {
  const { customer, external_customer_id } = asked;
  const subscriptions =
    customer === null
      ? []
      : (await subscriptionsInRange(deps.pool, scope, customer.id, range.start, range.end)).filter(
          // Usage of a customer who inherits is billed on the lines of the parent (billing 16).
          ({ subscription_type }) => subscription_type !== 'inherited',
        );
  return subscriptions.length === 0
    ? await bareMeters(
        deps,
        scope,
        { external_customer_id, timezone: customer?.timezone ?? 'UTC' },
        range,
        meterIds,
      )
    : await usageLines(deps, scope, subscriptions, range, meterIds, { terms });
}

/** The commitment of one row; for several rows or cells the sum of their parts. */
function commitmentOf(rated: readonly DiscountedCharge[]): UsageAnalyticsItem['commitment_info'] {
  const first = rated.find((charge) => charge.rated.commitment_info !== null);
  if (first === undefined) return null;
  const parts = lineCost(rated);
  return {
    ...first.rated.commitment_info!,
    computed_commitment_utilized_amount: decimalText(parts.utilized),
    computed_overage_amount: decimalText(parts.overage),
    computed_true_up_amount: decimalText(parts.true_up),
  };
}

export async function meterIdsOf(
  deps: ApiDeps,
  scope: Scope,
  body: {
    readonly feature_ids?: readonly string[] | null;
    readonly meter_ids?: readonly string[] | null;
  },
): Promise<readonly string[] | null> {
  if (body.meter_ids?.length) return body.meter_ids;
  if (!body.feature_ids?.length) return null;
  const features = await findFeatures(deps.pool, scope, [...body.feature_ids]);
  return features.flatMap(({ meter_id }) => meter_id ?? []);
}

type Embeds = Awaited<ReturnType<typeof embedsOf>>;

async function embedsOf(
  deps: ApiDeps,
  scope: Scope,
  subjects: readonly AnalyticsSubject[],
  expand: ReadonlySet<string>,
) {
  const { pool } = deps;
  const lines = subjects.flatMap(({ line }) => line ?? []);
  const featureRows = await findFeaturesOfMeters(pool, scope, [
    ...new Set(subjects.map(({ meter }) => meter.id)),
  ]);
  const [features, prices, plans, lineItems] = await Promise.all([
    withEmbedded(pool, scope, featureRows, { meter: false }),
    expand.has('price')
      ? priceAnswers(
          pool,
          scope,
          lines.map(({ price }) => price),
          {},
        )
      : [],
    expand.has('plan')
      ? findEmbeddedPlans(pool, scope, [...new Set(lines.map(({ entity_id }) => entity_id))])
      : [],
    expand.has('subscription_line_item') ? lineItemAnswers(pool, scope, lines.map(stored), {}) : [],
  ]);
  const byId = <Row extends { readonly id: string }>(rows: readonly Row[]) =>
    new Map(rows.map((row) => [row.id, row]));
  return {
    features: new Map(features.map((feature) => [feature.meter_id, feature])),
    showsMeter: expand.has('meter'),
    showsFeature: expand.has('feature'),
    prices: byId(prices),
    plans: byId(plans),
    lineItems: byId(lineItems),
  };
}

function stored(line: NonNullable<AnalyticsSubject['line']>) {
  const { price: _price, terms: _terms, ...row } = line;
  return row;
}

function windowsOfPoints(
  subject: AnalyticsSubject,
  asked: AnalyticsQuestion,
): UsageAnalyticsItem['windows_of_points'] {
  const grid = gridOfPoints(subject, asked);
  if (grid === null) return null;
  const { bucket_size, timezone, billing_anchor } = grid;
  return { window_size: bucket_size, timezone, billing_anchor };
}

interface Shown {
  readonly names: readonly string[];
  readonly asked: AnalyticsQuestion;
  readonly embeds: Embeds;
  readonly sources: string[] | null;
  readonly commitment_info: UsageAnalyticsItem['commitment_info'];
}

function itemOf(
  subject: AnalyticsSubject,
  figures: Figures,
  { names, asked, embeds, sources, commitment_info }: Shown,
): UsageAnalyticsItem {
  const { meter, subscription, line } = subject;
  const { version } = subject.stretches.at(-1)!;
  const feature = embeds.features.get(meter.id) ?? null;
  const valueOf = (name: string) => figures.group[names.indexOf(name)] ?? null;
  const properties = names.flatMap((name, index) =>
    name === 'source' ? [] : [[asked.group_by[index]!, figures.group[index]!] as const],
  );
  return {
    feature_id: feature?.id ?? null,
    meter_id: meter.id,
    price_id: line?.price_id ?? null,
    sub_line_item_id: line?.id ?? null,
    subscription_id: subscription?.id ?? null,
    plan_id: subscription?.plan_id ?? null,
    name: feature?.name ?? meter.name,
    event_name: meter.event_name,
    unit: feature?.unit_singular ?? '',
    unit_plural: feature?.unit_plural ?? '',
    aggregation_type: version.spec.aggregation.type,
    total_usage: figureText(figures.usage),
    total_usage_display: '',
    subtotal: figureText(figures.cost.cost),
    total_discount: figureText(figures.cost.discount),
    total_cost: figureText(netCost(figures.cost)),
    currency: line?.currency ?? '',
    event_count: figures.event_count,
    source: names.includes('source') ? valueOf('source') : null,
    properties: properties.length === 0 ? null : Object.fromEntries(properties),
    window_size: asked.window_size,
    points: figures.points === null ? null : [...figures.points],
    windows_of_points: windowsOfPoints(subject, asked),
    sources,
    commitment_info,
    bucket_summaries: null,
    reporting_unit: feature?.reporting_unit ?? null,
    group: feature?.group ?? null,
    add_on_id: line?.entity_type === 'addon' ? line.entity_id : null,
    addon: null,
    meter: embeds.showsMeter ? meter : null,
    feature: embeds.showsFeature ? feature : null,
    price: embeds.prices.get(line?.price_id ?? '') ?? null,
    plan: embeds.plans.get(line?.entity_id ?? '') ?? null,
    subscription_line_item: embeds.lineItems.get(line?.id ?? '') ?? null,
  };
}
