import { Decimal, decimalText, roundToStorage, sum, ZERO } from '../money.ts';
import { epochMs, isoText, type Instant } from '../time/instant.ts';
import { isSpendable, type CreditBlock } from './credit-block.ts';
import { inOrderOfUse } from './order-of-use.ts';

const DAY_MS = 86_400_000;
/** A forecast ends after this time. */
export const FORECAST_DAYS = 365;

export interface ForecastPoint {
  readonly at: Instant;
  /** Decimal text; money in the wallet's currency. */
  readonly balance: string;
}

export interface BalanceForecast {
  /** When nothing is left; null if that is not within the next `FORECAST_DAYS` days. */
  readonly empty_at: Instant | null;
  /** The balance now, at the end of each day, and when it is empty. */
  readonly points: ForecastPoint[];
}

/** What is left of one block, in money. */
interface Rest {
  money: Decimal;
  readonly endsMs: number;
}

/**
 * The balance of a wallet if usage goes on at `daily` a day (money 2.8.8). What is used but not settled
 * (`blocks` less `balance`) is taken first. Blocks are used in their order; the rest of a block is lost at its
 * expiry. Amounts are money; `rate` is the money for one credit.
 */
export function forecastBalance(
  blocks: readonly CreditBlock[],
  rate: Decimal,
  { balance, daily }: { readonly balance: Decimal; readonly daily: Decimal },
  at: Instant,
): BalanceForecast {
  const startMs = epochMs(at);
  const rests = inOrderOfUse(blocks.filter((block) => isSpendable(block, at))).map(
    (block): Rest => ({
      money: new Decimal(block.credits_available).times(rate),
      endsMs: block.expiry_date === null ? Infinity : epochMs(block.expiry_date),
    }),
  );
  let left = sum(rests.map(({ money }) => money));
  const points: ForecastPoint[] = [];
  const note = (ms: number, money: Decimal): void => {
    points.push({ at: isoText(ms), balance: decimalText(roundToStorage(money)) });
  };
  const take = takerOf(rests);

  const claimed = left.minus(balance);
  note(startMs, balance);
  if (balance.lte(0)) return { empty_at: at, points };
  take(claimed);
  left = balance;
  let fromMs = startMs;
  for (const toMs of stops(rests, startMs)) {
    const used = daily.times(toMs - fromMs).div(DAY_MS);
    if (used.gte(left)) {
      const ms = fromMs + left.div(daily).times(DAY_MS).floor().toNumber();
      note(ms, ZERO);
      return { empty_at: isoText(ms), points };
    }
    take(used);
    left = left.minus(used).minus(expired(rests, toMs));
    if (left.lte(0) || (toMs - startMs) % DAY_MS === 0) note(toMs, Decimal.max(left, ZERO));
    if (left.lte(0)) return { empty_at: isoText(toMs), points };
    fromMs = toMs;
  }
  return { empty_at: null, points };
}

/** The ends of the days, and when blocks expire, in their order. */
function stops(rests: readonly Rest[], startMs: number): number[] {
  const days = Array.from({ length: FORECAST_DAYS }, (_, day) => startMs + (day + 1) * DAY_MS);
  const ends = rests.map(({ endsMs }) => endsMs).filter((ms) => ms <= days.at(-1)!);
  return [...new Set([...days, ...ends])].sort((left, right) => left - right);
}

/** Takes money from the blocks in their order. Blocks that are used up are not looked at again. */
function takerOf(rests: readonly Rest[]): (money: Decimal) => void {
  const following = rests.values();
  let current = following.next();
  return (money) => {
    let open = money;
    while (current.done !== true && open.gt(0)) {
      const rest = current.value;
      const part = Decimal.min(rest.money, open);
      rest.money = rest.money.minus(part);
      open = open.minus(part);
      if (rest.money.gt(0)) return;
      current = following.next();
    }
  };
}

/** What the blocks that have expired at this instant lose; they have nothing afterwards. */
function expired(rests: readonly Rest[], ms: number): Decimal {
  const ended = rests.filter(({ endsMs, money }) => endsMs <= ms && money.gt(0));
  const lost = sum(ended.map(({ money }) => money));
  for (const rest of ended) rest.money = ZERO;
  return lost;
}
