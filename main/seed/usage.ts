import { lehmer } from '../demo/requests.ts';
import type { SeedCustomer } from './customers.ts';
import { DAY_MS, HOUR_MS, iso, type Month } from './months.ts';

export const CHAT_EVENT = 'chat.completion';
export const IMAGE_EVENT = 'image.generated';

/** An event as it is sent. */
export interface SeedEvent {
  readonly event_id: string;
  readonly event_name: typeof CHAT_EVENT | typeof IMAGE_EVENT;
  readonly external_customer_id: string;
  readonly timestamp: string;
  readonly properties: Readonly<Record<string, string | number>>;
}

/** From Sunday on: most work is done on weekdays. */
const WEEKDAY_WEIGHTS = [0.4, 1, 1.05, 1.1, 1.05, 0.95, 0.45];
/** Usage doubles in about two months. */
const GROWTH_PER_DAY = 1.012;
/** By UTC hour, from midnight on: two working days, in Europe and in America. */
const HOUR_WEIGHTS = [2, 1, 1, 1, 1, 2, 3, 5, 7, 8, 8, 7, 7, 8, 9, 9, 9, 8, 7, 6, 5, 4, 3, 2];
const HOURS = HOUR_WEIGHTS.flatMap((weight, hour) => Array<number>(weight).fill(hour));
const IMAGE_SHARE = 0.15;
const MODELS = ['small', 'small', 'small', 'medium', 'medium', 'large'] as const;
const REGIONS = ['eu-west', 'eu-west', 'us-east', 'us-east', 'us-east', 'ap-south'] as const;

/** How many events a customer causes on a day. */
interface Cell {
  readonly customer: SeedCustomer;
  readonly day: number;
  /** Hours of the day that have usage, weighted. */
  readonly hours: readonly number[];
  readonly events: number;
}

/** Exactly `count` events of all months together, in order of days. The same seed gives the same events. */
export class SeedUsage {
  readonly #seed: number;
  readonly #cells: readonly Cell[];
  readonly #random: () => number;
  #sequence = 0;

  constructor(
    seed: number,
    count: number,
    customers: readonly SeedCustomer[],
    months: readonly Month[],
  ) {
    this.#seed = seed;
    this.#cells = cellsOf(lehmer(seed + 1), count, customers, months);
    this.#random = lehmer(seed + 2);
  }

  /** The events of one month, in batches. Months must be read in their order. */
  *batchesOf({ start, end }: Month, size: number): Generator<SeedEvent[]> {
    let batch: SeedEvent[] = [];
    for (const cell of this.#cells) {
      if (cell.day < start || cell.day >= end) continue;
      for (let index = 0; index < cell.events; index += 1) {
        batch.push(this.#event(cell));
        if (batch.length < size) continue;
        yield batch;
        batch = [];
      }
    }
    if (batch.length > 0) yield batch;
  }

  #event({ customer, day, hours }: Cell): SeedEvent {
    const random = this.#random;
    const hour = hours[Math.floor(random() * hours.length)]!;
    const isImage = random() < IMAGE_SHARE;
    const model = MODELS[Math.floor(random() * MODELS.length)]!;
    const region = REGIONS[Math.floor(random() * REGIONS.length)]!;
    this.#sequence += 1;
    return {
      event_id: `seed-${this.#seed}-${this.#sequence}`,
      event_name: isImage ? IMAGE_EVENT : CHAT_EVENT,
      external_customer_id: customer.external_id,
      timestamp: iso(day + hour * HOUR_MS + Math.floor(random() * HOUR_MS)),
      properties: isImage
        ? { model, region }
        : {
            model,
            region,
            input_tokens: 50 + Math.floor(random() ** 3 * 6_000),
            output_tokens: 1 + Math.floor(random() ** 2 * 1_500),
          },
    };
  }
}

/** Splits the count by weight; sums of shares are rounded, so that the parts sum to the count. */
function cellsOf(
  random: () => number,
  count: number,
  customers: readonly SeedCustomer[],
  months: readonly Month[],
): Cell[] {
  const { start } = months[0]!;
  const { end } = months.at(-1)!;
  const weighted: (Omit<Cell, 'events'> & { weight: number })[] = [];
  for (let day = start; day < end; day += DAY_MS) {
    const limit = Math.min(24, Math.floor((end - day) / HOUR_MS));
    const hours = HOURS.filter((hour) => hour < limit);
    const ofDay =
      WEEKDAY_WEIGHTS[new Date(day).getUTCDay()]! *
      GROWTH_PER_DAY ** ((day - start) / DAY_MS) *
      (hours.length / HOURS.length);
    for (const customer of customers) {
      const noise = 0.7 + 0.6 * random();
      if (day < customer.from || day >= customer.to || hours.length === 0) continue;
      weighted.push({ customer, day, hours, weight: customer.weight * ofDay * noise });
    }
  }
  const total = weighted.reduce((sum, { weight }) => sum + weight, 0);
  let before = 0;
  let given = 0;
  return weighted.map(({ weight, ...cell }, index) => {
    before += weight;
    const upTo = index === weighted.length - 1 ? count : Math.round((before / total) * count);
    const events = upTo - given;
    given = upTo;
    return { ...cell, events };
  });
}
