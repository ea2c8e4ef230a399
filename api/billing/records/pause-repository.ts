import assert from 'node:assert/strict';
import { movePause, type PauseRecordStatus } from '../../../domain/states/pause.ts';
import { paidPeriodAt } from '../../../domain/subscription/schedule.ts';
import { movedByPause } from '../../../domain/subscription/unpaused-time.ts';
import { epochMs, isoText, laterOf } from '../../../domain/time/instant.ts';
import type { PausedTime } from '../../../domain/time/paused-cells.ts';
import { inScope, type Db, type Scope, type Transaction } from '../../../postgres/client.ts';
import { tableOf } from '../../../postgres/table.ts';
import type { SubscriptionPause } from '../../../schemas/subscription-pause.ts';
import type { SubscriptionRow } from '../../../schemas/subscription.ts';
import { groupBy } from '../../../domain/group-by.ts';

const pauses = tableOf<SubscriptionPause>({
  name: 'subscription_pauses',
  noun: 'Pause',
  columns: (db) => db`
  id, tenant_id, environment_id, subscription_id, pause_mode, resume_mode, pause_status, pause_start,
  pause_end, resumed_at, original_period_start, original_period_end, reason, metadata, status,
  created_at, updated_at, created_by, updated_by`,
  json: ['metadata'],
  only: 'published',
});

/** The published pause. 404 if it is unknown or belongs to another scope. */
export const getPause = pauses.get;

/** Inserts the pause and returns it as read. */
export const insertPause = pauses.insert;

/** Changes the given columns. 404 as for `getPause`. */
export const updatePauseRow = pauses.change;

/** Pauses of the subscriptions, newest first. */
export const findPausesOf = (
  db: Db,
  scope: Scope,
  subscriptionIds: readonly string[],
): Promise<SubscriptionPause[]> =>
  pauses.findBy(db, scope, 'subscription_id', subscriptionIds, db`pause_start desc, id desc`);

/** The times in which the subscriptions were or are paused, by subscription, in order of time. */
export async function pausedTimes(
  db: Db,
  scope: Scope,
  subscriptionIds: readonly string[],
): Promise<ReadonlyMap<string, readonly PausedTime[]>> {
  const found = await findPausesOf(db, scope, subscriptionIds);
  const begun = found
    .filter(({ pause_status }) => pause_status === 'active' || pause_status === 'completed')
    .reverse();
  const times = groupBy(begun, ({ subscription_id }) => subscription_id);
  return new Map(
    [...times].map(([id, own]) => [
      id,
      own.map(({ pause_start, resumed_at }) => ({ start: pause_start, end: resumed_at })),
    ]),
  );
}

/**
 * The times in which the subscription was paused, is paused or should be by now: a planned pause that a late job
 * has not begun counts from its start. Not in order.
 */
export async function knownPauses(
  db: Db,
  scope: Scope,
  { id, pause_at, resume_at }: Pick<SubscriptionRow, 'id' | 'pause_at' | 'resume_at'>,
): Promise<PausedTime[]> {
  const begun = (await pausedTimes(db, scope, [id])).get(id) ?? [];
  const ended = begun.filter(({ end }) => end !== null);
  return pause_at === null ? ended : [...ended, { start: pause_at, end: resume_at }];
}

/** A subscription before and after a step. */
export interface Moved {
  readonly before: SubscriptionRow;
  readonly after: SubscriptionRow;
}

/** The status of the pause that the subscription names: it mirrors a scheduled or active one (billing 19.2). */
function running({ pause_status }: SubscriptionRow): PauseRecordStatus {
  assert(pause_status !== 'none', 'a subscription that names a pause mirrors its status');
  return pause_status;
}

/**
 * The records of pauses that begin or end with a step; coupons that count periods, and addons that end with one, last
 * longer by a pause (billing 12.4, 15). The caller holds the subscriptions' locks.
 */
export async function writePauses(
  tx: Transaction,
  scope: Scope,
  moved: readonly Moved[],
): Promise<void> {
  for (const { before, after } of moved) {
    const id = before.active_pause_id;
    if (id === null || before.subscription_status === after.subscription_status) continue;
    const { updated_at, updated_by } = after;
    if (after.subscription_status === 'cancelled') {
      const pause_status = movePause(running(before), 'cancel_subscription');
      await updatePauseRow(tx, scope, id, { pause_status, updated_at, updated_by });
    } else if (after.subscription_status === 'paused') {
      await updatePauseRow(tx, scope, id, {
        pause_status: movePause(running(before), 'start'),
        pause_start: after.pause_at!,
        original_period_start: before.current_period_start,
        original_period_end: before.current_period_end,
        updated_at,
        updated_by,
      });
    } else if (before.subscription_status === 'paused') {
      const resumed_at = before.due_at!;
      await updatePauseRow(tx, scope, id, {
        pause_status: movePause(running(before), 'resume'),
        resumed_at,
        updated_at,
        updated_by,
      });
      await moveCouponEnds(tx, scope, { before, after });
      await moveAddonEnds(tx, scope, { before, after });
    }
  }
}

/**
 * Coupons that count periods discount as many as without the pause that has just ended: their end keeps its place
 * among the periods (billing 12.4).
 */
async function moveCouponEnds(
  tx: Transaction,
  scope: Scope,
  { before, after }: Moved,
): Promise<void> {
  const ends = await tx<{ id: string; end_date: string }[]>`
    select a.id, a.end_date
      from coupon_associations a join coupons c on c.id = a.coupon_id
     where ${inScope(tx, scope, 'a')} and a.subscription_id = ${before.id}
       and c.cadence = 'repeated' and a.end_date > ${before.pause_at}`;
  if (ends.length === 0) return;
  const pauses = (await pausedTimes(tx, scope, [before.id])).get(before.id) ?? [];
  const earlier = pauses.filter(({ start }) => start < before.pause_at!);
  const pause = { start: before.pause_at!, end: before.due_at! };
  const moved = ends.map(({ end_date }) =>
    movedByPause({ before, after }, pause, earlier)(end_date),
  );
  await tx`
    update coupon_associations a set end_date = moved.end_date
      from unnest(${ends.map(({ id }) => id)}::text[], ${moved}::timestamptz[]) as moved (id, end_date)
     where ${inScope(tx, scope, 'a')} and a.id = moved.id`;
}

/**
 * An addon that ends with a period, with its lines and its grants, ends with it when the pause makes it longer or later
 * (billing 15). One that ends at a date within a period keeps it.
 */
async function moveAddonEnds(
  tx: Transaction,
  scope: Scope,
  { before, after }: Moved,
): Promise<void> {
  const found = await tx<{ id: string; start_date: string; end_date: string }[]>`
    select id, start_date, end_date from addon_associations
     where ${inScope(tx, scope)} and subscription_id = ${before.id} and end_date > ${before.pause_at}`;
  for (const { id, start_date, end_date: was } of found) {
    if (!isPeriodEnd(before, was)) continue;
    const period = paidPeriodAt(after, laterOf(start_date, before.pause_at!));
    const end_date = period?.end ?? after.current_period_end;
    const { updated_at, updated_by } = after;
    const change = { end_date, updated_at, updated_by };
    await tx`
      update addon_associations set ${tx(change)} where ${inScope(tx, scope)} and id = ${id}`;
    for (const table of ['subscription_line_items', 'credit_grants'])
      await tx`
        update ${tx(table)} set ${tx(change)}
         where ${inScope(tx, scope)} and addon_association_id = ${id} and end_date = ${was}`;
  }
}

/** Whether a billing period ends at an instant, by the periods before the pause. */
function isPeriodEnd(before: SubscriptionRow, end: string): boolean {
  const last = isoText(epochMs(end) - 1);
  return paidPeriodAt({ ...before, end_date: null }, last)?.end === end;
}

/** Ends the current pause of a subscription that a request has cancelled. */
export async function endPauseOf(
  tx: Transaction,
  scope: Scope,
  before: SubscriptionRow,
  after: SubscriptionRow,
): Promise<void> {
  if (before.active_pause_id === null) return;
  await writePauses(tx, scope, [{ before, after }]);
  await tx`
    update subscriptions
       set pause_status = 'none', active_pause_id = null, pause_at = null, resume_at = null
     where ${inScope(tx, scope)} and id = ${after.id}`;
}
