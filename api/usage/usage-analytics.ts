import { BillingError } from '../../domain/errors.ts';
import { decimalText, ZERO } from '../../domain/money.ts';
import type { Scope } from '../../postgres/client.ts';
import type { Customer } from '../../schemas/customer.ts';
import type {
  UsageAnalytics,
  UsageAnalyticsBody,
  UsageAnalyticsItem,
} from '../../schemas/usage-analytics.ts';
import { findCustomerByExternalId } from '../customers/repository.ts';
import type { ApiDeps } from '../deps.ts';
import { findFeatures, findFeaturesOfMeters, withEmbedded } from '../features/repository.ts';
import { findEmbeddedPlans } from '../plans/plan-rows.ts';
import { priceAnswers } from '../prices/repository.ts';
import { lineItemAnswers } from '../subscriptions/answers.ts';
import { asksOf, figuresOf, type AnalyticsQuestion, type Figures } from './analytics-figures.ts';
import { analyticsSubjects, type AnalyticsSubject } from './analytics-subjects.ts';
import { askUsage } from './ask-usage.ts';
import { rangeOf } from './range.ts';

/**
 * Usage and cost of one customer, per usage line (or per meter where nothing is sold), grouped,
 * filtered and in windows as asked. Costs are what the line's price makes of the usage shown, before
 * allowances, commitments, discounts and taxes. Items without events are left out.
 */
export async function usageAnalytics(
  deps: ApiDeps,
  scope: Scope,
  body: UsageAnalyticsBody & { readonly meter_ids?: readonly string[] | null },
): Promise<UsageAnalytics> {
  const range = rangeOf(deps.clock, body);
  const customer = await customerOf(deps, scope, body.external_customer_id || null);
  const meterIds = await meterIdsOf(deps, scope, body);
  const subjects = await analyticsSubjects(deps, scope, customer, range, meterIds);
  const names = (body.group_by ?? []).filter((entry) => !/^(feature|meter)_id$/.test(entry));
  const asked: AnalyticsQuestion = {
    scope,
    external_customer_ids: body.external_customer_id ? [body.external_customer_id] : null,
    filter_values: {
      ...(body.property_filters ?? {}),
      ...(body.sources?.length ? { source: body.sources } : {}),
    },
    group_by: names.map((name) => name.replace(/^properties\./s, '')),
    window_size: body.window_size ?? null,
  };
  const rows = await askUsage(
    deps,
    subjects.flatMap((subject, number) => asksOf(subject, number, asked)),
  );
  const found = subjects.flatMap((subject, number) =>
    figuresOf(subject, number, asked, rows).map((figures) => ({ subject, figures })),
  );
  const embeds = await embedsOf(deps, scope, subjects, new Set(body.expand ?? []));
  const items = found.map(({ subject, figures }) => itemOf(subject, figures, names, asked, embeds));
  const cost = found.reduce((sum, { figures }) => sum.plus(figures.cost), ZERO);
  return {
    subtotal: decimalText(cost),
    total_discount: '0',
    total_cost: decimalText(cost),
    currency: subjects.find(({ line }) => line !== null)?.line?.currency ?? '',
    items,
  };
}

async function customerOf(
  deps: ApiDeps,
  scope: Scope,
  externalId: string | null,
): Promise<Customer | null> {
  if (externalId === null) return null;
  return await findCustomerByExternalId(deps.pool, scope, externalId).catch((error: unknown) => {
    // Usage may come before the customer record: it is shown without prices.
    if (error instanceof BillingError && error.kind === 'not_found') return null;
    throw error;
  });
}

async function meterIdsOf(
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

function itemOf(
  subject: AnalyticsSubject,
  figures: Figures,
  names: readonly string[],
  asked: AnalyticsQuestion,
  embeds: Embeds,
): UsageAnalyticsItem {
  const { meter, version, subscription, line } = subject;
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
    total_usage: decimalText(figures.usage),
    total_usage_display: '',
    subtotal: decimalText(figures.cost),
    total_discount: '0',
    total_cost: decimalText(figures.cost),
    currency: line?.currency ?? '',
    event_count: figures.event_count,
    source: names.includes('source') ? valueOf('source') : null,
    properties: properties.length === 0 ? null : Object.fromEntries(properties),
    window_size: asked.window_size,
    points: figures.points === null ? null : [...figures.points],
    meter: embeds.showsMeter ? meter : null,
    feature: embeds.showsFeature ? feature : null,
    price: embeds.prices.get(line?.price_id ?? '') ?? null,
    plan: embeds.plans.get(line?.entity_id ?? '') ?? null,
    subscription_line_item: embeds.lineItems.get(line?.id ?? '') ?? null,
  };
}
