import { lehmer } from '../demo/requests.ts';
import { DAY_MS, type Month } from './months.ts';

export type PlanName = 'Starter' | 'Team' | 'Enterprise';

/** One customer of the generated tenant. */
export interface SeedCustomer {
  readonly external_id: string;
  readonly name: string;
  readonly plan: PlanName;
  /** Share of all usage, relative to the others. */
  readonly weight: number;
  /** Index of the month in which the customer joins. */
  readonly joins_in: number;
  /** Usage lies in [from, to). */
  readonly from: number;
  readonly to: number;
  /** Index of the month at whose end the customer leaves; null stays. */
  readonly leaves_after: number | null;
  /** Card of the test gateway that is charged; null pays by bank transfer within 30 days. */
  readonly card: 'pm_test_success' | 'pm_test_decline' | null;
  /** Prepaid credits bought at the start; null has no wallet. */
  readonly credits: string | null;
  /** Whether the subscription has the coupon of the launch. */
  readonly has_coupon: boolean;
  /** Whether people are told when the usage of a month costs much. */
  readonly is_watched: boolean;
}

export const CUSTOMERS = 50;
const ENTERPRISE = 5;
const TEAM = 20;
/** Zipf's exponent: the first five customers cause about half of the usage. */
const SKEW = 1.15;
const DECLINED: ReadonlySet<number> = new Set([33, 41]);
const LEAVES = 29;
const WITH_COUPON: ReadonlySet<number> = new Set([7, 11, 22]);

const FIRST = [
  'Amber', 'Birch', 'Cobalt', 'Delta', 'Ember', 'Fjord', 'Granite', 'Harbor', 'Indigo', 'Juniper',
] as const; // prettier-ignore
const SECOND = ['Analytics', 'Health', 'Labs', 'Legal', 'Logistics'] as const;

/** Fifty customers, the heaviest first. The same seed gives the same customers. */
export function seedCustomers(seed: number, months: readonly Month[]): SeedCustomer[] {
  const random = lehmer(seed);
  const names = shuffled(
    FIRST.flatMap((first) => SECOND.map((second) => `${first} ${second}`)),
    random,
  );
  const end = months.at(-1)!.end;
  return names.map((name, rank): SeedCustomer => {
    const joins_in = rank >= 40 ? 2 : rank >= 30 ? 1 : 0;
    const leaves_after = rank === LEAVES ? 1 : null;
    const start = months[joins_in]!.start;
    const hasWallet = rank >= ENTERPRISE && rank % 4 === 1;
    return {
      external_id: name.toLowerCase().replace(' ', '-'),
      name,
      plan: rank < ENTERPRISE ? 'Enterprise' : rank < TEAM ? 'Team' : 'Starter',
      weight: (rank + 1) ** -SKEW * (0.8 + 0.4 * random()),
      joins_in,
      from: joins_in === 0 ? start : start + DAY_MS,
      to: leaves_after === null ? end : months[leaves_after]!.end,
      leaves_after,
      card: rank < ENTERPRISE ? null : DECLINED.has(rank) ? 'pm_test_decline' : 'pm_test_success',
      credits: hasWallet ? (rank < TEAM ? '500' : '50') : null,
      has_coupon: WITH_COUPON.has(rank),
      is_watched: rank === 0,
    };
  });
}

function shuffled<Item>(items: readonly Item[], random: () => number): Item[] {
  const result = [...items];
  for (let index = result.length - 1; index > 0; index -= 1) {
    const other = Math.floor(random() * (index + 1));
    [result[index], result[other]] = [result[other]!, result[index]!];
  }
  return result;
}
