import type { EventHistory as StoredHistory } from '../../../clickhouse/reading/event-reader.ts';
import { ERASED_PROPERTIES, type RawEventRow } from '../../../clickhouse/rows.ts';
import { BillingError, eventNotFound } from '../../../domain/errors.ts';
import { matchesFilter } from '../../../domain/pricing/filter-values.ts';
import { compileFilters } from '../../../domain/metering/match.ts';
import { multipliedValue } from '../../../domain/metering/meter-event.ts';
import { isoText } from '../../../domain/time/instant.ts';
import type { Scope } from '../../../postgres/client.ts';
import { meterVersionsOf } from '../../../postgres/tables/meter-versions.ts';
import type { Customer } from '../../../schemas/customer.ts';
import type {
  DebugTracker,
  EventCopy,
  EventHistory,
  EventMetering,
  ProcessedEvent,
} from '../../../schemas/event.ts';
import type { Meter } from '../../../schemas/meter.ts';
import type { LineItemRow } from '../../../schemas/subscription.ts';
import { getCustomerByExternalId } from '../../customers/customers/repository.ts';
import type { ApiDeps } from '../../deps.ts';
import { findFeaturesOfMeters } from '../../catalog/features/repository.ts';
import { findPrices, priceAnswers, type PriceRow } from '../../catalog/prices/repository.ts';
import { lineItemAnswers } from '../records/subscription-answers.ts';
import { eventAnswer, propertiesOf, textsOf } from '../../usage/events/answers.ts';
import { endedVersions } from '../../usage/events/ended-versions.ts';
import { fedLines } from './fed-lines.ts';
import { lateInvoices } from './late-invoices.ts';
import { metersOfEventName, pricesOfMeters } from '../../usage/events/repository.ts';

const COPIES_MAX = 50;

/**
 * The outcome of an event: every accepted copy with its verdict, what each meter counted of the canonical one
 * or why not, and the stage it reached on the way to a charge. 404 for an unknown id.
 */
export async function debugEvent(
  deps: ApiDeps,
  scope: Scope,
  eventId: string,
): Promise<EventHistory> {
  const history = await deps.eventReader.history({ ...scope, event_id: eventId }, COPIES_MAX);
  const shown = history.canonical ?? history.copies[0];
  if (shown === undefined) throw eventNotFound(eventId);
  const way = await followToCharge(deps, scope, shown);
  const ended =
    history.canonical === null ? [] : await endedVersions(deps.pool, scope, history.canonical);
  const endedIds = new Set(ended.map(({ meter_version_id }) => meter_version_id));
  const metered = await meteringOf(deps, scope, history, way.meters);
  const metering = [
    ...metered.filter(({ meter_version_id }) => !endedIds.has(meter_version_id)),
    ...ended,
  ];
  const processed = processedEvents(way, metering, history);
  const isProcessed = processed.length > 0 && history.voids.length === 0;
  const subscriptionIds = isProcessed
    ? [...new Set(processed.map(({ subscription_id }) => subscription_id))]
    : [];
  const { partition, position, timestamp } = shown;
  const at = isoText(timestamp);
  return {
    event: eventAnswer(shown),
    status: isProcessed ? 'processed' : 'failed',
    processed_events: isProcessed ? processed : null,
    debug_tracker: isProcessed ? null : await trackerOf(deps, scope, way, metering, history),
    events: history.copies.map((copy) => copyAnswer(copy, history)),
    metering,
    late_for: await lateInvoices(deps.pool, scope, { partition, position, at }, subscriptionIds),
    customer: way.customer instanceof BillingError ? null : pick(way.customer),
  };
}

const pick = ({ id, name, created_at }: Customer) => ({ id, name, created_at });

/** What was found, up to the first stage without a result. */
interface Way {
  readonly event: RawEventRow;
  readonly customer: Customer | BillingError;
  readonly meters: readonly Meter[];
  readonly prices: readonly PriceRow[];
  readonly lineItems: readonly LineItemRow[];
  readonly featureOfMeter: ReadonlyMap<string, string>;
}

async function followToCharge(deps: ApiDeps, scope: Scope, event: RawEventRow): Promise<Way> {
  const { pool } = deps;
  const customer = await getCustomerByExternalId(pool, scope, event.external_customer_id).catch(
    (error: unknown) => {
      if (error instanceof BillingError) return error;
      throw error;
    },
  );
  const properties = propertiesOf(event) ?? {};
  const listening = await metersOfEventName(pool, scope, event.event_name);
  const meters = listening.filter((meter) => compileFilters(meter.filters)(properties));
  const meterIds = meters.map((meter) => meter.id);
  const texts = textsOf(properties);
  const lineItems =
    customer instanceof BillingError
      ? []
      : await fedLines(pool, scope, customer.id, meterIds, {
          timestamp: event.timestamp,
          properties: texts,
        });
  // Only some prices of a popular meter are checked; those that the customer pays are always included.
  const known = await pricesOfMeters(pool, scope, meterIds);
  const paid = [...new Set(lineItems.map(({ price_id }) => price_id))].filter(
    (id) => !known.some((price) => price.id === id),
  );
  const prices = [...(await findPrices(pool, scope, paid)), ...known].filter((price) =>
    matchesFilter(price.filter_values ?? {}, texts),
  );
  const features = await findFeaturesOfMeters(pool, scope, meterIds);
  const featureOfMeter = new Map(
    features.flatMap((feature) =>
      feature.meter_id === null ? [] : [[feature.meter_id, feature.id]],
    ),
  );
  return { event, customer, meters, prices, lineItems, featureOfMeter };
}

/** What each meter version counted of the canonical copy: its quantity, or the reason for none. */
async function meteringOf(
  deps: ApiDeps,
  scope: Scope,
  history: StoredHistory,
  meters: readonly Meter[],
): Promise<EventMetering[]> {
  const { canonical } = history;
  if (canonical === null) return [];
  const ids = meters.map((meter) => meter.id);
  const versions = await meterVersionsOf(deps.pool, scope, ids);
  return versions.flatMap(({ id: meter_version_id, meter_id, spec }) => {
    const counted = history.usage.find((row) => row.meter_version_id === meter_version_id);
    const rejected = history.rejections.find(
      (row) =>
        row.meter_version_id === meter_version_id &&
        row.partition === canonical.partition &&
        row.position === canonical.position,
    );
    if (counted === undefined && rejected === undefined) return [];
    const { reason = null, message = null } = counted === undefined ? rejected! : {};
    const quantity = counted === undefined ? null : multipliedValue(spec, counted.value);
    return [{ meter_id, meter_version_id, quantity, reason, message }];
  });
}

function processedEvents(
  way: Way,
  metering: readonly EventMetering[],
  history: StoredHistory,
): ProcessedEvent[] {
  const { customer, lineItems, featureOfMeter } = way;
  if (customer instanceof BillingError || history.canonical === null) return [];
  const processed_at = isoText(history.canonical.ingested_at);
  return lineItems.flatMap((line) => {
    const counted = metering.find(
      ({ meter_id, quantity }) => meter_id === line.meter_id && quantity !== null,
    );
    if (counted === undefined) return [];
    return {
      customer_id: customer.id,
      subscription_id: line.subscription_id,
      sub_line_item_id: line.id,
      price_id: line.price_id,
      meter_id: counted.meter_id,
      feature_id: featureOfMeter.get(counted.meter_id) ?? null,
      qty_total: counted.quantity!,
      processed_at,
    };
  });
}

function copyAnswer(copy: RawEventRow, history: StoredHistory): EventCopy {
  const { canonical } = history;
  const rejected = history.rejections.some(
    (row) =>
      row.meter_version_id === '' &&
      row.partition === copy.partition &&
      row.position === copy.position,
  );
  const verdict = rejected
    ? 'rejected'
    : !copy.is_canonical
      ? 'duplicate'
      : history.voids.length > 0
        ? 'voided'
        : history.usage.length > 0
          ? 'counted'
          : 'not_metered';
  return {
    ...eventAnswer(copy),
    is_canonical: copy.is_canonical,
    verdict,
    duplicate_of:
      verdict === 'duplicate' && canonical !== null ? isoText(canonical.ingested_at) : null,
    is_erased: copy.properties === ERASED_PROPERTIES,
  };
}

const NOT_LOOKED_AT = { status: 'unprocessed', error: null } as const;

async function trackerOf(
  deps: ApiDeps,
  scope: Scope,
  way: Way,
  metering: readonly EventMetering[],
  history: StoredHistory,
): Promise<DebugTracker> {
  const { event, customer, meters, prices, lineItems } = way;
  const failed = (
    type: NonNullable<DebugTracker['failure_point']>['failure_point_type'],
    code: string,
    message: string,
  ) => ({
    failure_point_type: type,
    error: {
      success: false as const,
      error: { message, internal_error: null },
      code,
      message,
      http_status_code: 404,
    },
  });
  const tracker: DebugTracker = {
    customer_lookup: { status: 'unprocessed', customer: null, error: null },
    meter_matching: { ...NOT_LOOKED_AT, matched_meters: null },
    price_lookup: { ...NOT_LOOKED_AT, matched_prices: null },
    subscription_line_item_lookup: { ...NOT_LOOKED_AT, matched_line_items: null },
    failure_point: null,
  };
  if (customer instanceof BillingError) {
    const failure = failed('customer_lookup', customer.code, customer.message);
    tracker.customer_lookup = { status: 'error', customer: null, error: failure.error };
    return { ...tracker, failure_point: failure };
  }
  tracker.customer_lookup = { status: 'found', customer, error: null };
  if (meters.length === 0) {
    tracker.meter_matching = { status: 'not_found', matched_meters: null, error: null };
    const disabled = metering.find(({ reason }) => reason === 'meter_disabled');
    const message = disabled?.message ?? `No meters found matching event_name: ${event.event_name}`;
    const code = disabled?.reason ?? 'not_found';
    return { ...tracker, failure_point: failed('meter_lookup', code, message) };
  }
  tracker.meter_matching = {
    status: 'found',
    matched_meters: meters.map((meter) => ({
      meter_id: meter.id,
      event_name: meter.event_name,
      meter,
    })),
    error: null,
  };
  if (prices.length === 0) {
    tracker.price_lookup = { status: 'not_found', matched_prices: null, error: null };
    const message = 'No prices found for matched meters';
    return { ...tracker, failure_point: failed('price_lookup', 'not_found', message) };
  }
  const shown = await priceAnswers(deps.pool, scope, prices, {});
  tracker.price_lookup = {
    status: 'found',
    matched_prices: shown.map((price) => ({
      price_id: price.id,
      meter_id: price.meter_id!,
      status: price.status,
      price,
    })),
    error: null,
  };
  if (lineItems.length === 0) {
    tracker.subscription_line_item_lookup = {
      status: 'not_found',
      matched_line_items: null,
      error: null,
    };
    const message = 'No subscription line item of the customer has a matching price at that time';
    return {
      ...tracker,
      failure_point: failed('subscription_line_item_lookup', 'not_found', message),
    };
  }
  const lines = await lineItemAnswers(deps.pool, scope, lineItems, {});
  tracker.subscription_line_item_lookup = {
    status: 'found',
    matched_line_items: lines.map((line) => ({
      sub_line_item_id: line.id,
      subscription_id: line.subscription_id,
      price_id: line.price_id,
      start_date: line.start_date,
      end_date: line.end_date,
      is_active_for_event: true,
      timestamp_within_range: true,
      subscription_line_item: line,
    })),
    error: null,
  };
  return { ...tracker, failure_point: failed('metering', ...whyNotMetered(metering, history)) };
}

function whyNotMetered(
  metering: readonly EventMetering[],
  history: StoredHistory,
): [code: string, message: string] {
  if (history.voids.length > 0) return ['voided', 'The event was taken back by a correction.'];
  const refused = metering.find(({ reason }) => reason !== null);
  if (refused !== undefined) return [refused.reason!, refused.message ?? refused.reason!];
  return ['not_yet_metered', 'The event has been accepted and is still being metered.'];
}
