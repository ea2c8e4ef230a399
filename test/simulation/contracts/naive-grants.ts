import { Decimal } from '../../../domain/money.ts';
import type { Block, Contract, Grant } from './contract.ts';
import { boundary, clockAt } from './naive-calendar.ts';
import { lifeOf, type Lived } from './naive-life.ts';

/**
 * What the grants of a contract give, in money: for each period of a grant that begins after a trial, ends within the
 * contract and does not begin in a pause (money 5.2.1, 5.4, billing 12.4). `known` tells the periods as they are known
 * at an instant.
 */
export function grantedBlocks(
  contract: Contract,
  until: number,
  known: (at: number) => readonly Lived[],
): Block[] {
  const { cancelled } = contract;
  if (cancelled !== null && cancelled.at <= lifeOf(contract).start) return [];
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

/** When the credits of a grant are given, up to an instant. The time of pauses does not count, but on a calendar. */
export function grantTimes(contract: Contract, { every }: Grant, until: number): number[] {
  const { zone, cycle, pauses } = contract;
  const { start } = lifeOf(contract);
  if (every === null) return [start];
  let clock = clockAt(zone, start);
  const times: number[] = [];
  for (let k = 0, at = start; ; k += 1) {
    let end = boundary(clock, every.unit, every.count, k + 1);
    for (const pause of cycle === 'anniversary' ? pauses : [])
      if (at <= pause.start && pause.start <= end) {
        end += pause.end - pause.start;
        clock = clockAt(zone, end);
        k = -1;
      }
    // The last part of a contract gives nothing if it is shorter than a period of the grant.
    if (at >= until || end > lifeOf(contract).end) return times;
    times.push(at);
    at = end;
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
