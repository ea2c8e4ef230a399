import { invalidField } from '../../domain/errors.ts';
import { Decimal, ZERO } from '../../domain/money.ts';
import type { Scope } from '../../postgres/client.ts';
import type { EventUsageBody, MeterUsage } from '../../schemas/usage.ts';
import type { ApiDeps } from '../deps.ts';
import { askedCustomer } from './asked-customer.ts';
import { rangeOf } from './range.ts';

/**
 * Aggregates raw events of one name, whatever has been stored so far. Of several copies of an id the
 * first one counts; an event without a usable value does not. A type without a property counts events.
 * With groups each bucket has one result per group, and the value is the sum of all (observed-usage, POST
 * /events/usage/meter).
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
  const groups = [
    ...(body.group_by ?? []),
    ...(body.group_by_property ? [body.group_by_property] : []),
  ];
  if (groups.length > 0 && !(isBucketed && type === 'MAX'))
    throw invalidField(
      body.group_by?.length ? 'group_by' : 'group_by_property',
      'goes with the aggregation type MAX and a bucket_size only',
    );
  const bucket_size = body.bucket_size ?? body.window_size ?? null;
  const answer = await deps.eventReader.aggregate({
    ...scope,
    event_name: body.event_name,
    external_customer_id: await askedCustomer(deps.pool, scope, body),
    aggregation: type,
    multiplier: body.multiplier ?? null,
    property_name: type === 'COUNT' ? null : body.property_name!,
    start,
    end,
    filters: body.filters ?? {},
    group_by: [...new Set(groups)],
    window:
      bucket_size === null
        ? null
        : {
            bucket_size,
            timezone: body.timezone ?? 'UTC',
            billing_anchor: body.billing_anchor ?? null,
          },
  });
  const total = answer.windows.reduce((sum, { value }) => sum.plus(value), ZERO);
  return {
    event_name: body.event_name,
    type,
    value: answer.value !== null ? Number(answer.value) : isBucketed ? total.toNumber() : null,
    results:
      answer.value !== null
        ? null
        : answer.windows.map(({ window_start, value }) => ({
            window_size: window_start,
            value: new Decimal(value).toNumber(),
          })),
  };
}
