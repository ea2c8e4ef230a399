import { invalidField } from '../../domain/errors.ts';
import { Decimal, ZERO } from '../../domain/money.ts';
import type { Scope } from '../../postgres/client.ts';
import type { EventUsageBody, MeterUsage } from '../../schemas/usage.ts';
import type { ApiDeps } from '../deps.ts';
import { rangeOf } from './range.ts';

/**
 * Aggregates raw events of one name, whatever has been stored so far. Of several copies of an id the
 * first one counts; an event without a usable value does not. A type without a property counts events.
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
  const bucket_size = body.bucket_size ?? body.window_size ?? null;
  const answer = await deps.eventReader.aggregate({
    ...scope,
    event_name: body.event_name,
    external_customer_id: body.external_customer_id || null,
    aggregation: type,
    multiplier: body.multiplier ?? null,
    property_name: type === 'COUNT' ? null : body.property_name!,
    start,
    end,
    filters: body.filters ?? {},
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
