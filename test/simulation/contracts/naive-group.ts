import { Decimal } from '../../../domain/money.ts';
import type { Bill, Block, Contract, Draft } from './contract.ts';
import type { Child, Group, GroupUse } from './group.ts';
import { Account } from './naive-contract.ts';
import { total } from './naive-rating.ts';
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
  const ofChildren = split.map(({ account, own, merged }, index) => {
    const { contract } = children[index]!;
    const [billed, beside] = [own, merged].map((drafts) =>
      drafts.map(billing(contract, account.periods)),
    );
    const credited = account.credited([...bills, ...billed!]);
    const isParents = (block: Block) =>
      advancesAround(contract, account, beside!, block.at).gt(
        advancesAround(contract, account, billed!, block.at),
      );
    const toParent = credited.filter(isParents);
    const paid = paidFrom(
      contract,
      billed!,
      credited.filter((block) => !isParents(block)),
    );
    return { toParent, settled: { contract, account, ...paid } };
  });
  const credited = [first!.credited(bills), ...ofChildren.map(({ toParent }) => toParent)].flat();
  return [
    { contract: parent, account: first!, ...paidFrom(parent, bills, credited) },
    ...ofChildren.map(({ settled }) => settled),
  ];
}

/** What bills charge in advance for the period around an instant. Who is billed more gets the credits of the period. */
function advancesAround(
  { fees }: Contract,
  { periods }: Account,
  bills: readonly Bill[],
  at: number,
): Decimal {
  const names = fees.filter(({ advance }) => advance).map(({ name }) => name);
  const period = periods.find(({ start, end }) => start <= at && at < end);
  return total(
    bills
      .flatMap(({ rows }) => rows)
      .filter(
        ({ name, start }) =>
          names.includes(name) &&
          period !== undefined &&
          start >= period.start &&
          start < period.end,
      )
      .map(({ net }) => net),
  );
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
