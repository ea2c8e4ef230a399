import { BillingError, invalidField } from '../../../domain/errors.ts';
import { scalarText } from '../../../domain/json-scalar.ts';
import { compileFilters } from '../../../domain/metering/match.ts';
import {
  compileMeter,
  multipliedValue,
  type Metering,
} from '../../../domain/metering/meter-event.ts';
import { assertMeterSpec, meterDimensions } from '../../../domain/metering/meter-rules.ts';
import type { MeterSpec } from '../../../domain/metering/usage.ts';
import { epochMs } from '../../../domain/time/instant.ts';
import { windowStart } from '../../../domain/time/usage-windows.ts';
import { isoTime } from '../../../platform/clock.ts';
import type { Db, Scope } from '../../../postgres/client.ts';
import type { Customer } from '../../../schemas/customer.ts';
import type { IngestEventBody } from '../../../schemas/events/event-bodies.ts';
import { parseTimestamp } from '../../../schemas/events/timestamp.ts';
import { uniqueHash } from '../../../schemas/events/unique-hash.ts';
import type { CreateMeterBody, MeterTest } from '../../../schemas/meter.ts';
import { getCustomerByExternalId } from '../../customers/customers/repository.ts';
import type { ApiDeps } from '../../deps.ts';
import { textsOf } from '../../usage/events/answers.ts';
import { fedLines } from './fed-lines.ts';
import { aggregationOf } from '../../catalog/meters/create-meter.ts';
import { getMeterRow, meterSpec } from '../../catalog/meters/repository.ts';
import { significantDigits } from '../../../schemas/digits.ts';

type Deps = Pick<ApiDeps, 'pool' | 'clock'>;

/** Result of a stored meter for a test event; nothing is stored. 404 for an unknown meter. */
export async function testMeter(
  deps: Deps,
  scope: Scope,
  meterId: string,
  event: IngestEventBody,
): Promise<MeterTest> {
  const meter = await getMeterRow(deps.pool, scope, meterId);
  const names = meterDimensions(meter.aggregation.group_by, meter.filtered_properties);
  const tested = await testSpec(deps, scope, meterSpec(meter), names, event);
  if (!tested.is_metered || tested.customer_id === null) return tested;
  return { ...tested, charges: await chargesOf(deps.pool, scope, meterId, tested, event) };
}

/** Result of an unsaved meter definition for a test event; 400 if the definition is invalid. */
export async function testMeterDefinition(
  deps: Deps,
  scope: Scope,
  body: CreateMeterBody,
  event: IngestEventBody,
): Promise<MeterTest> {
  const spec: MeterSpec = {
    event_name: body.event_name,
    aggregation: aggregationOf(body.aggregation),
    filters: body.filters ?? [],
    reset_usage: body.reset_usage,
  };
  assertMeterSpec(spec, 'meter.');
  const names = meterDimensions(spec.aggregation.group_by, []);
  return await testSpec(deps, scope, spec, names, event);
}

/** Uses the functions of the stream, so the result equals what would be counted. */
async function testSpec(
  deps: Deps,
  scope: Scope,
  spec: MeterSpec,
  dimensions: readonly string[],
  event: IngestEventBody,
): Promise<MeterTest> {
  const properties = event.properties ?? {};
  assertExact(properties, 'event.properties');
  const event_name = event.event_name.trim();
  const version = { id: '', meter_id: '', version: 1, ...scope, spec, dimensions };
  const metering = compileMeter(version)({ event_name, properties });
  const filters = spec.filters.map((filter) => ({
    key: filter.key,
    wanted: [...filter.values],
    found: scalarText(properties[filter.key]),
    matches: compileFilters([filter])(properties),
  }));
  const nameMatches = event_name === spec.event_name;
  const why = whyNot(metering, nameMatches, filters);
  const timestamp =
    event.timestamp == null ? isoTime(deps.clock.now()) : isoTime(parseTimestamp(event.timestamp)!);
  const { group_by, bucket_size } = spec.aggregation;
  const kept = metering.outcome === 'metered' ? metering.dimensions : [];
  return {
    matches: metering.outcome !== 'unmatched',
    event_name: { wanted: spec.event_name, found: event_name, matches: nameMatches },
    filters,
    is_metered: metering.outcome === 'metered',
    reason: why?.reason ?? null,
    message: why?.message ?? null,
    value: metering.outcome === 'metered' ? valueOf(spec, metering) : null,
    group: group_by === null ? null : (kept[dimensions.indexOf(group_by)] ?? null),
    dimensions: Object.fromEntries(kept.map((value, index) => [dimensions[index]!, value])),
    bucket:
      bucket_size === null
        ? null
        : {
            bucket_size,
            window_start: windowStart(
              { bucket_size, timezone: 'UTC', billing_anchor: null },
              timestamp,
            ),
            timezone: 'UTC',
          },
    timestamp,
    customer_id: (await customerOf(deps.pool, scope, event.external_customer_id))?.id ?? null,
    charges: [],
  };
}

function valueOf(
  spec: MeterSpec,
  { value, unique_value }: Extract<Metering, { outcome: 'metered' }>,
): NonNullable<MeterTest['value']> {
  const { type, field, expression, multiplier } = spec.aggregation;
  return {
    quantity: value,
    source: type === 'COUNT' ? 'event' : expression === null ? 'field' : 'expression',
    field: type === 'COUNT' ? null : field,
    expression,
    multiplier,
    multiplied: multipliedValue(spec, value),
    unique_value,
    unique_hash: unique_value === null ? null : uniqueHash(unique_value),
  };
}

function whyNot(
  metering: Metering,
  nameMatches: boolean,
  filters: MeterTest['filters'],
): { reason: NonNullable<MeterTest['reason']>; message: string } | null {
  if (metering.outcome === 'metered') return null;
  if (metering.outcome === 'unmetered')
    return { reason: metering.reason, message: MESSAGES[metering.reason] };
  if (!nameMatches)
    return { reason: 'event_name_differs', message: 'The meter listens to another event name.' };
  const { key, found } = filters.find(({ matches }) => !matches)!;
  const message =
    found === null
      ? `The event has no text, number or boolean in "${key}".`
      : `"${found}" in "${key}" is not one of the filter values.`;
  return { reason: 'filter_differs', message };
}

const MESSAGES = {
  value_missing: 'The event has no value where the meter reads one.',
  value_not_numeric: 'The value that the meter reads is not a number.',
  value_out_of_range: 'The value has more than 20 integer or 18 decimal digits.',
  expression_failed: "The meter's expression could not be evaluated for this event.",
} as const;

async function customerOf(db: Db, scope: Scope, externalId: string): Promise<Customer | null> {
  return await getCustomerByExternalId(db, scope, externalId).catch((error: unknown) => {
    if (error instanceof BillingError && error.kind === 'not_found') return null;
    throw error;
  });
}

async function chargesOf(
  db: Db,
  scope: Scope,
  meterId: string,
  { customer_id, timestamp }: MeterTest,
  { properties }: IngestEventBody,
): Promise<MeterTest['charges']> {
  const event = { timestamp: epochMs(timestamp), properties: textsOf(properties ?? {}) };
  const lines = await fedLines(db, scope, customer_id!, [meterId], event);
  return lines.map((line) => ({
    subscription_id: line.subscription_id,
    sub_line_item_id: line.id,
    price_id: line.price_id,
    display_name: line.display_name,
  }));
}

const DIGITS_MAX = 15;

/** The edge sees the digits as sent; here a number with more than 15 digits may have lost some. */
function assertExact(value: unknown, path: string): void {
  if (typeof value === 'number') {
    if (significantDigits(String(value)) > DIGITS_MAX)
      throw invalidField(path, `has more than ${DIGITS_MAX} digits: send it as a string`);
  } else if (typeof value === 'object' && value !== null) {
    for (const [key, inner] of Object.entries(value)) assertExact(inner, `${path}.${key}`);
  }
}
