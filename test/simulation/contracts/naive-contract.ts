import type { Bill, Contract, Draft, Use } from './contract.ts';
import { Fees } from './naive-fees.ts';
import { grantedBlocks } from './naive-grants.ts';
import type { Lived } from './naive-life.ts';
import { Lines } from './naive-lines.ts';
import { settle } from './naive-settlement.ts';
import { Usage } from './naive-usage.ts';

/** Drafts of usage are final so long after their period. */
export const GRACE_MS = 7_200_000;

/**
 * A second, naive account of one contract: what each of its invoices says, row by row. It shares decimals with the
 * product and nothing else: its calendar is luxon's, and it goes through all usage for every sum.
 */
export class Account {
  readonly #sold: Contract;
  readonly #uses: readonly Use[];
  readonly #lines: Lines;
  readonly #fees: Fees;
  readonly #usage: Usage;
  readonly periods: readonly Lived[];

  constructor(contract: Contract, uses: readonly Use[]) {
    this.#sold = contract;
    this.#uses = uses;
    this.#lines = new Lines(contract);
    this.#fees = new Fees(this.#lines);
    this.#usage = new Usage(this.#lines, uses);
    this.periods = this.#lines.periods;
  }

  /** The opening, then the invoices of each period, each as far as the pauses were known when it was drafted. */
  bills(): Bill[] {
    const { periods: count } = this.#lines.contract;
    const unpaused = this.#asKnownAt(this.#lines.life.start - 1);
    const [first] = unpaused.periods;
    const opening: Draft = {
      ...{ reason: 'SUBSCRIPTION_CREATE', period: first! },
      ...{ drafted: first!.start, issued: first!.start },
      rows: unpaused.#fees.advanceRows(first!),
    };
    const drafts = this.periods.slice(0, count).flatMap(({ closed: drafted }, index): Draft[] => {
      const known = this.#asKnownAt(drafted);
      const [period, next] = known.periods.slice(index, index + 2);
      const usage = known.#usage.usageRows(period!);
      const cycle: Draft = {
        ...{ reason: 'SUBSCRIPTION_CYCLE', period: period!, drafted },
        issued: usage.length > 0 ? drafted + GRACE_MS : drafted,
        rows: [
          ...(next === undefined || next.restarts ? [] : known.#fees.advanceRows(next)),
          ...known.#fees.arrearRows(period!),
          ...usage,
        ],
      };
      if (next?.restarts !== true || index + 1 >= count) return [cycle];
      const { start } = next;
      const rows = known.#fees.advanceRows(next);
      const begun: Draft = {
        ...{ reason: 'SUBSCRIPTION_UPDATE', period: next, drafted: start, issued: start, rows },
      };
      return [cycle, begun];
    });
    const blocks = [...this.#fees.credited(), ...grantedBlocks(this.#lines.contract, this.periods)];
    return settle(
      this.#lines.contract,
      this.periods,
      [opening, ...drafts, ...this.#fees.attachments()].sort(
        (left, right) => left.drafted - right.drafted,
      ),
      (bills) => [...blocks, ...this.#fees.detachments(bills)],
    );
  }

  /** The account without the pauses that begin after an instant. */
  #asKnownAt(instant: number): Account {
    const { pauses } = this.#sold;
    const begun = pauses.filter(({ start }) => start <= instant);
    return begun.length === pauses.length
      ? this
      : new Account({ ...this.#sold, pauses: begun }, this.#uses);
  }
}
