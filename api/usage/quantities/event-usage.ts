import { invalidField } from '../../../domain/errors.ts';
import { Decimal, decimal, sum } from '../../../domain/money.ts';
import type { Scope } from '../../../postgres/client.ts';
import type { EventUsageBody, MeterUsage } from '../../../schemas/usage.ts';
import type { ApiDeps } from '../../deps.ts';
import { refuseTooManyGroups } from './ask-usage.ts';
import { askedCustomer } from './asked-customer.ts';
import { groupNames, resultOf } from './group-results.ts';
import { rangeOf } from '../../conventions/usage-range.ts';

/**
 * Aggregates raw events of one name, as far as stored. Of several copies of an id the first one counts; an
 * event without a usable value does not count. A type without a property counts events. Each group has a
 * result, per window if windows are requested, in addition to the total value. For buckets the total is their
 * sum (as the reference answers).
 */
export async function eventUsage(
  deps: ApiDeps,
  scope: Scope,
  body: EventUsageBody,
): Promise<MeterUsage> {
  const { start, end } = rangeOf(deps.clock, body);
  const type = body.property_name ? body.aggregation_type : 'COUNT';
  const isBucketed = body.bucket_size != null;
  if (isBucketed && type !== 'MAX' && type !== 'SUM')
    throw invalidField('bucket_size', 'goes with the aggregation types MAX and SUM only');
  if (type !== 'SUM_WITH_MULTIPLIER' && body.multiplier && !decimal(body.multiplier).eq(1))
    throw invalidField('multiplier', `${type} takes no multiplier; use SUM_WITH_MULTIPLIER`);
  const group_by = groupNames(body);
  const bucket_size = body.bucket_size ?? body.window_size ?? null;
  const total = {
    ...scope,
    event_name: body.event_name,
    external_customer_id: await askedCustomer(deps.pool, scope, body),
    aggregation: type,
    multiplier: body.multiplier ?? null,
    property_name: type === 'COUNT' ? null : body.property_name!,
    start,
    end,
    filters: body.filters ?? {},
    window: null,
  };
  const timezone = body.timezone ?? 'UTC';
  const billing_anchor = body.billing_anchor ?? null;
  const window = bucket_size === null ? null : { bucket_size, timezone, billing_anchor };
  const isOne = window === null && group_by.length === 0;
  const { rows } = isOne
    ? { rows: [] }
    : await deps.eventReader.aggregate({ ...total, group_by, window });
  refuseTooManyGroups(group_by, rows);
  const value = isBucketed
    ? sum(rows.map((row) => new Decimal(row.value))).toFixed()
    : window === null
      ? (await deps.eventReader.aggregate(total)).value
      : null;
  return {
    event_name: body.event_name,
    type,
    value: value === null ? null : Number(value),
    results: isOne ? null : rows.map((row) => resultOf(row, row.value, group_by, start)),
  };
}
