import type { Bill, Contract, Draft } from './contract.ts';
import type { Child, Group, GroupUse } from './group.ts';
import { Account } from './naive-contract.ts';
import { billing, paidFrom, taxed, type Settlement } from './naive-settlement.ts';

/** The account of a parent or of a child, with what its own customer is billed. */
export interface Settled extends Settlement {
  readonly contract: Contract;
  readonly account: Account;
}

/** What the invoices of a group say: those of the parent, then those of each child that is billed by itself. */
export function settledGroup({ parent, children }: Group, uses: readonly GroupUse[]): Settled[] {
  const [first, ...others] = [parent, ...children.map(({ contract }) => contract)].map(
    (contract, index) =>
      accountOf(
        contract,
        uses.filter(({ of }) => of === index),
      ),
  );
  const split = others.map((account, index) => {
    const drafts = account.drafts();
    const merged = drafts.filter((draft) => isMerged(first!.drafts(), children[index]!, draft));
    return { account, merged, own: drafts.filter((draft) => !merged.includes(draft)) };
  });
  const bills = first!.drafts().map((draft) => {
    const parts = split.flatMap(({ account, merged }, index) =>
      merged
        .filter(({ drafted }) => draft.reason === 'SUBSCRIPTION_CYCLE' && drafted === draft.drafted)
        .map(billing(children[index]!.contract, account.periods)),
    );
    const own = billing(parent, first!.periods)(draft);
    return taxed(parent, { ...draft, rows: [own, ...parts].flatMap(({ rows }) => rows) });
  });
  const settle = (contract: Contract, account: Account, own: Bill[], known: Bill[]): Settled => ({
    ...{ contract, account },
    ...paidFrom(contract, own, account.credited(known)),
  });
  return [
    settle(parent, first!, bills, bills),
    ...split.map(({ account, own }, index) => {
      const { contract } = children[index]!;
      const billed = own.map(billing(contract, account.periods));
      return settle(contract, account, billed, [...bills, ...billed]);
    }),
  ];
}

/**
 * Periods that both begin or join before their end, and end together, with neither gone before: then the child is on
 * the invoice of the parent.
 */
const isMerged = (
  ofParent: readonly Draft[],
  { contract, joins, leaves }: Child,
  { reason, period, drafted }: Draft,
): boolean =>
  reason === 'SUBSCRIPTION_CYCLE' &&
  (joins ?? contract.start) < period.end &&
  (leaves === null || leaves >= period.end) &&
  ofParent.some((one) => one.reason === reason && one.drafted === drafted);

/** Usage that arrives after the invoice of its period is final is on none. */
function accountOf(contract: Contract, uses: readonly GroupUse[]): Account {
  const drafts = new Account(contract, []).drafts();
  const issued = (at: number) =>
    drafts.find(
      ({ reason, period }) =>
        (reason === 'SUBSCRIPTION_CYCLE' || reason === 'PRORATION') &&
        period.start <= at &&
        at < period.end,
    )?.issued ?? Infinity;
  return new Account(
    contract,
    uses.filter(({ at, arrives }) => arrives === null || arrives < issued(at)),
  );
}
