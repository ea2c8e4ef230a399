import { Decimal } from '../../../domain/money.ts';
import type { Block, Contract, Grant } from './contract.ts';
import { boundary, clockAt } from './naive-calendar.ts';
import { lifeOf, type Lived } from './naive-life.ts';

/**
 * What the grants of a contract give, in money: for each period of a grant that ends within the contract and does not
 * begin in a pause. `known` tells the periods as they are known at an instant.
 */
export function grantedBlocks(
  contract: Contract,
  until: number,
  known: (at: number) => readonly Lived[],
): Block[] {
  return contract.grants.flatMap((grant) =>
    grantTimes(contract, grant, until)
      .filter((at) => !contract.pauses.some(({ start, end }) => start <= at && at < end))
      .map((at): Block => ({
        at,
        amount: new Decimal(grant.credits).times(grant.rate).toFixed(),
        priority: grant.priority,
        expiry: expiryOf(contract, grant, at, known(at)),
      })),
  );
}

/** When the credits of a grant are given, up to an instant. */
export function grantTimes(contract: Contract, { every }: Grant, until: number): number[] {
  const { zone, start } = contract;
  if (every === null) return [start];
  const clock = clockAt(zone, start);
  const ends = (k: number) => boundary(clock, every.unit, every.count, k + 1);
  const times: number[] = [];
  for (let k = 0; ; k += 1) {
    const at = boundary(clock, every.unit, every.count, k);
    // The last part of a contract gives nothing if it is shorter than a period of the grant.
    if (at >= until || ends(k) > lifeOf(contract).end) return times;
    times.push(at);
  }
}

function expiryOf(
  { zone }: Contract,
  { expires }: Grant,
  at: number,
  periods: readonly Lived[],
): number | null {
  if (expires === 'NEVER') return null;
  if (expires === 'BILLING_CYCLE')
    return periods.find(({ start, end }) => start <= at && at < end)!.end;
  const units = { DAY: 'DAILY', WEEK: 'WEEKLY', MONTH: 'MONTHLY' } as const;
  return boundary(clockAt(zone, at), units[expires.unit], expires.count, 1);
}
