import { answerUsage } from '../../../domain/metering/aggregate.ts';
import { canonicalUsage, type LoggedEvent } from '../../../domain/metering/canonical-usage.ts';
import type { Properties } from '../../../domain/json-scalar.ts';
import type {
  AggregationType,
  MeterSpec,
  MeterVersion,
  UsageRow,
} from '../../../domain/metering/usage.ts';
import type { BucketSize } from '../../../domain/time/usage-windows.ts';
import { epochMs, type Period } from '../../../domain/time/instant.ts';
import type { JsonObject } from '../compare.ts';

/** A usage question of a case: one meter, one customer, events in the order of their arrival. */
export interface MeteringCase {
  readonly aggregation: JsonObject;
  readonly filters: MeterSpec['filters'];
  readonly reset_usage: MeterSpec['reset_usage'];
  readonly events: readonly {
    readonly event_id: string;
    readonly timestamp: string;
    readonly properties: Properties;
  }[];
  readonly period: Period;
  readonly group_by: readonly string[];
  readonly bucket_size: BucketSize | null;
  readonly timezone: string;
}

const SCOPE = { tenant_id: 'tenant', environment_id: 'env' };

/** Meters the events and asks the aggregator. */
export function usageOf(question: MeteringCase): readonly UsageRow[] {
  const version: MeterVersion = {
    ...SCOPE,
    id: 'version',
    meter_id: 'meter',
    version: 1,
    dimensions: question.group_by,
    spec: {
      event_name: 'usage',
      filters: question.filters,
      reset_usage: question.reset_usage,
      aggregation: {
        field: null,
        expression: null,
        multiplier: null,
        group_by: null,
        bucket_size: null,
        ...question.aggregation,
        type: question.aggregation['type'] as AggregationType,
      },
    },
  };
  const log = question.events.map((event, index): LoggedEvent => ({
    ...SCOPE,
    kind: 'usage',
    event_id: event.event_id,
    event_name: 'usage',
    external_customer_id: 'customer',
    timestamp: epochMs(event.timestamp),
    source: '',
    properties: event.properties,
    partition: 0,
    position: BigInt(index),
  }));
  const { answers } = answerUsage(
    [
      {
        ...SCOPE,
        key: 'question',
        meter_version_id: version.id,
        aggregation: version.spec.aggregation.type,
        multiplier: version.spec.aggregation.multiplier,
        reset_usage: version.spec.reset_usage,
        external_customer_ids: ['customer'],
        start: question.period.start,
        end: question.period.end,
        filter_values: {},
        group_by: question.group_by,
        window:
          question.bucket_size === null
            ? null
            : {
                bucket_size: question.bucket_size,
                timezone: question.timezone,
                billing_anchor: null,
              },
      },
    ],
    canonicalUsage(version, log),
  );
  return answers.get('question')!.rows;
}
