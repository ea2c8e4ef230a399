import { z } from 'zod';
import { Customer } from './customer.ts';
import { SETTLED_AS } from './late-usage.ts';
import { Meter } from './meter.ts';
import { Price } from './price.ts';
import { SubscriptionLineItem } from './subscription.ts';
import { decimalText, instant, text, time } from './primitives.ts';
import { choice, eventText, propertyFilters } from './usage-choices.ts';

/** An event as accepted. `properties` keeps its JSON types. */
export const Event = z
  .object({
    id: z.string(),
    external_customer_id: z.string(),
    /** The reference sent with the event; empty when none was sent. */
    customer_id: z.string(),
    event_name: z.string(),
    timestamp: instant,
    properties: z.record(z.string(), z.unknown()).nullable(),
    source: z.string(),
    environment_id: z.string(),
    ingested_at: instant,
  })
  .meta({ id: 'Event' });
export type Event = z.infer<typeof Event>;

/** Outcome of one accepted copy. */
export const EVENT_VERDICTS = [
  'counted',
  'duplicate',
  'voided',
  'not_metered',
  'rejected',
] as const;

export const EventCopy = Event.extend({
  /** Whether this is the canonical copy: the first accepted copy, the only one that counts. */
  is_canonical: z.boolean(),
  verdict: z.enum(EVENT_VERDICTS),
  /** For a duplicate: when the canonical copy was accepted. Otherwise null. */
  duplicate_of: instant.nullable(),
  /** Its properties were erased with its customer; usage counted before stays. */
  is_erased: z.boolean(),
}).meta({ id: 'EventCopy' });
export type EventCopy = z.infer<typeof EventCopy>;

/** The error in both forms that clients read. */
const Failure = z.object({
  success: z.literal(false),
  error: z.object({ message: z.string(), internal_error: z.null() }),
  code: z.string(),
  message: z.string(),
  http_status_code: z.int(),
});
const stageStatus = z.enum(['found', 'not_found', 'error', 'unprocessed']);

/**
 * The processing of an event up to its charge, stage by stage; `failure_point` is the stage where it failed.
 */
export const DebugTracker = z
  .object({
    customer_lookup: z.object({
      status: stageStatus,
      customer: Customer.nullable(),
      error: Failure.nullable(),
    }),
    meter_matching: z.object({
      status: stageStatus,
      matched_meters: z
        .array(z.object({ meter_id: z.string(), event_name: z.string(), meter: Meter }))
        .nullable(),
      error: Failure.nullable(),
    }),
    price_lookup: z.object({
      status: stageStatus,
      matched_prices: z
        .array(
          z.object({
            price_id: z.string(),
            meter_id: z.string(),
            status: z.string(),
            price: Price,
          }),
        )
        .nullable(),
      error: Failure.nullable(),
    }),
    subscription_line_item_lookup: z.object({
      status: stageStatus,
      matched_line_items: z
        .array(
          z.object({
            sub_line_item_id: z.string(),
            subscription_id: z.string(),
            price_id: z.string(),
            start_date: instant,
            end_date: instant.nullable(),
            /** Always true: only line items in force at the event's time are matched. */
            is_active_for_event: z.literal(true),
            timestamp_within_range: z.literal(true),
            subscription_line_item: SubscriptionLineItem,
          }),
        )
        .nullable(),
      error: Failure.nullable(),
    }),
    failure_point: z
      .object({
        failure_point_type: z.enum([
          'customer_lookup',
          'meter_lookup',
          'price_lookup',
          'subscription_line_item_lookup',
          'metering',
        ]),
        error: Failure,
      })
      .nullable(),
  })
  .meta({ id: 'EventDebugTracker' });
export type DebugTracker = z.infer<typeof DebugTracker>;

export const ProcessedEvent = z
  .object({
    customer_id: z.string(),
    subscription_id: z.string(),
    sub_line_item_id: z.string(),
    price_id: z.string(),
    meter_id: z.string(),
    feature_id: z.string().nullable(),
    /** Quantity that the meter counted for this event. */
    qty_total: decimalText,
    processed_at: instant,
  })
  .meta({ id: 'ProcessedEvent' });
export type ProcessedEvent = z.infer<typeof ProcessedEvent>;

/** The result of one meter for the canonical copy. */
export const EventMetering = z
  .object({
    meter_id: z.string(),
    meter_version_id: z.string(),
    /** Null when the meter could not count the event; `reason` says why. */
    quantity: decimalText.nullable(),
    reason: z.string().nullable(),
    message: z.string().nullable(),
  })
  .meta({ id: 'EventMetering' });
export type EventMetering = z.infer<typeof EventMetering>;

/** A final invoice whose period holds the event, and which was computed before the event was counted. */
export const LateEvent = z
  .object({
    invoice_id: z.string(),
    invoice_number: z.string().nullable(),
    subscription_id: z.string(),
    /** A skipped invoice is computed again instead of settled. */
    invoice_status: z.enum(['FINALIZED', 'SKIPPED']),
    /** How late usage that includes the event was settled; null: not settled. */
    settled_as: z.enum(SETTLED_AS).nullable(),
    /** The one-off invoice or the credit note of the settlement. */
    document_id: z.string().nullable(),
  })
  .meta({ id: 'LateEvent' });
export type LateEvent = z.infer<typeof LateEvent>;

export const EventHistory = z
  .object({
    event: Event,
    status: z.enum(['processed', 'failed']),
    processed_events: z.array(ProcessedEvent).nullable(),
    debug_tracker: DebugTracker.nullable(),
    /** Every accepted copy of the id, newest first, up to 50. */
    events: z.array(EventCopy),
    metering: z.array(EventMetering),
    /** Invoices for which the event came too late (billing 17.6). */
    late_for: z.array(LateEvent),
    /**
     * The customer who has the event's `external_customer_id` now; null if there is none. A `created_at` after
     * the event's `ingested_at` means that the customer was created later: the event is charged all the same.
     */
    customer: z.object({ id: z.string(), name: z.string(), created_at: instant }).nullable(),
  })
  .meta({ id: 'EventHistory' });
export type EventHistory = z.infer<typeof EventHistory>;

export const EventParams = z.object({ id: text(1000).min(1) });
export const EventLookup = z.object({ id: text(1000).min(1) });

export const EVENT_PAGE_SIZE = 50;

/** The copies that `duplicate_count`, `metered_count` or `rejected_count` of the monitoring counts. */
export const EVENT_OUTCOMES = ['duplicate', 'metered', 'rejected'] as const;

const common = {
  external_customer_id: eventText.nullish(),
  event_name: eventText.nullish(),
  event_id: text().nullish(),
  source: eventText.nullish(),
  outcome: choice(z.enum(EVENT_OUTCOMES)),
  /** Both ends are inclusive; default: the last seven days. */
  start_time: time.nullish(),
  end_time: time.nullish(),
  sort: choice(z.enum(['timestamp', 'event_name'])),
  order: choice(z.enum(['asc', 'desc'])),
  /**
   * A key from an answer: `<unix nanoseconds>::<event id>`, except when the page ended among copies of one
   * event. `iter_first_key` returns the events before it in the list (newer, newest first), `iter_last_key`
   * the events after it.
   */
  iter_first_key: text(300).nullish(),
  iter_last_key: text(300).nullish(),
};

export const EventsBody = z
  .object({
    ...common,
    property_filters: propertyFilters,
    /** Above 50 it means 50, as clients of this route expect. */
    page_size: z.int().min(1).nullish(),
    offset: z.int().min(0).nullish(),
  })
  .meta({ id: 'GetEvents' });
export type EventsBody = z.output<typeof EventsBody>;

/** The same as URL parameters: `property_filters=plan:pro,free;region:eu`. */
export const EventsQuery = z.object({
  ...common,
  start_time: choice(time),
  end_time: choice(time),
  property_filters: text(4000).nullish(),
  page_size: text(20).nullish(),
  offset: z.coerce.number().int().min(0).nullish(),
  count_total: text(10).nullish(),
});

export const EventList = z
  .object({
    events: z.array(Event),
    has_more: z.boolean(),
    iter_first_key: z.string().nullable(),
    iter_last_key: z.string().nullable(),
    total_count: z.int(),
    /** Offset of the next page; null when the request used a key. */
    offset: z.int().nullable(),
  })
  .meta({ id: 'EventList' });
export type EventList = z.infer<typeof EventList>;
