import { laterOf } from '../../../domain/time/instant.ts';
import type { Db, Scope, Transaction } from '../../../postgres/client.ts';
import type { SubscriptionRow } from '../../../schemas/subscription.ts';
import {
  changeAddonAssociation,
  findAddonAssociationsOf,
} from '../../catalog/offers/addon-association-repository.ts';
import {
  findCreditGrantsOf,
  updateCreditGrantRow,
} from '../../catalog/credit-grants/repository.ts';
import { changed, type Caller } from '../../conventions/record.ts';
import type { BillingDeps } from '../../deps.ts';
import { changeLineItem } from '../records/line-item-repository.ts';
import { lineItemsOf } from '../records/subscription-repository.ts';
import { addonPeriodEnd } from './addons.ts';

/** The time of an addon association before and after a change of the dates of its subscription. */
export interface MovedAddon {
  readonly id: string;
  readonly start_date: string;
  readonly end_date: string | null;
  readonly ended_at: string | null;
}

/**
 * The addons of a subscription whose first period is moved: a draft that is activated, or a trial whose end is changed.
 * One that began with the subscription, or would begin before it, begins with it; one that ends with the period in
 * which it starts ends with that period as it is now (billing 10.5, 15).
 */
export async function movedAddons(
  db: Db,
  scope: Scope,
  before: SubscriptionRow,
  after: SubscriptionRow,
): Promise<MovedAddon[]> {
  const associations = await findAddonAssociationsOf(db, scope, [before.id]);
  return associations.flatMap(({ id, start_date: start, end_date: end }) => {
    const begins = start <= before.start_date || start < after.start_date;
    const start_date = begins ? after.start_date : start;
    const follows = end !== null && end === addonPeriodEnd(before, start);
    const end_date = follows ? addonPeriodEnd(after, start_date) : end;
    const isMoved = start_date !== start || end_date !== end;
    return isMoved ? [{ id, start_date, end_date, ended_at: end }] : [];
  });
}

/** The lines with the ends of the addons that they belong to. */
export const withMovedEnds = <
  Line extends { readonly addon_association_id: string | null; readonly end_date: string | null },
>(
  lines: readonly Line[],
  moved: readonly MovedAddon[],
): Line[] =>
  lines.map((line) => {
    const addon = moved.find(
      ({ id, ended_at }) => id === line.addon_association_id && ended_at === line.end_date,
    );
    return addon === undefined ? line : { ...line, end_date: addon.end_date };
  });

/** Writes the moved addons, with the ends of their lines and credit grants. */
export async function writeMovedAddons(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  { id: subscriptionId }: Pick<SubscriptionRow, 'id'>,
  moved: readonly MovedAddon[],
): Promise<void> {
  if (moved.length === 0) return;
  const { scope } = caller;
  const by = changed(deps, caller);
  for (const { id, start_date, end_date } of moved)
    await changeAddonAssociation(tx, scope, id, { start_date, end_date, ...by });
  const lines = await lineItemsOf(tx, scope, [subscriptionId]);
  for (const [index, { id, start_date, end_date }] of withMovedEnds(lines, moved).entries())
    if (end_date !== lines[index]!.end_date)
      await changeLineItem(tx, scope, id, { end_date: laterOf(end_date!, start_date), ...by });
  const grants = await findCreditGrantsOf(tx, scope, 'subscription_id', [subscriptionId]);
  for (const [index, { id, end_date }] of withMovedEnds(grants, moved).entries())
    if (end_date !== grants[index]!.end_date)
      await updateCreditGrantRow(tx, scope, id, { end_date, ...by });
}
