import { invalidField } from '../../../../domain/errors.ts';
import type { ProrationBehavior } from '../../../../domain/pricing/proration.ts';
import type { Transaction } from '../../../../postgres/client.ts';
import type {
  AddonAssociationRow,
  AttachAddonBody,
} from '../../../../schemas/addon-association.ts';
import type { SubscriptionRow } from '../../../../schemas/subscription.ts';
import type { Caller } from '../../../conventions/record.ts';
import type { BillingDeps } from '../../../deps.ts';
import type { LineSwap } from '../../proration/change-rows.ts';
import type { NewAddon } from '../addons.ts';
import {
  billedAttachment,
  writeBilledAttachment,
  type BilledAttachment,
  type ClosedPeriodDraft,
} from './addon-of-closed-periods.ts';
import { beginGrants, planAttachment, writeAttachment, type AttachRequest } from './addons.ts';
import { inPreparedSubscription, settle } from './line-item-change.ts';

/**
 * Attaches an addon to a running subscription (billing 15): its prices become line items, and its
 * entitlements count from its start. With prorations the rest of the running period is charged now. Closed
 * periods since its start get invoices of their own.
 */
export async function attachAddon(
  deps: BillingDeps,
  caller: Caller,
  body: Omit<AttachAddonBody, 'checkout'>,
): Promise<AddonAssociationRow> {
  return await inPreparedSubscription(deps, caller, body.subscription_id, async (known) => {
    const billed = await billedAttachment(deps, caller, known, body);
    return async (tx, subscription, at) => {
      const { addon, ...rest } = await attach(tx, deps, caller, subscription, body, { at, billed });
      await settle(tx, deps, caller, subscription, rest.swaps, rest.proration_behavior, at);
      await beginGrants(tx, deps, caller, subscription, addon, body.proration_behavior, at);
      return addon.association;
    };
  });
}

/** An addon that is attached in the caller's transaction, which settles the changes of lines. */
export interface Attached {
  readonly addon: NewAddon;
  readonly swaps: readonly LineSwap[];
  /** How the rest of the running period is charged; absent: as the subscription says. */
  readonly proration_behavior: ProrationBehavior | null | undefined;
  /** The drafts of the closed periods. */
  readonly drafts: readonly ClosedPeriodDraft[];
}

/** Writes the addon, its line items and its drafts of closed periods. 400 for a closed period that is not billed. */
export async function attach(
  tx: Transaction,
  deps: BillingDeps,
  caller: Caller,
  subscription: SubscriptionRow,
  request: AttachRequest,
  { at, billed }: { readonly at: string; readonly billed: BilledAttachment | null },
): Promise<Attached> {
  const { current_period_start } = subscription;
  if (billed !== null) {
    const { addon, change } = billed.attachment;
    const drafts = await writeBilledAttachment(tx, deps, caller, subscription, billed);
    // The running period follows the one in which the addon starts: it is charged whole, also without prorations.
    const effective_at = current_period_start;
    const swaps = change.swaps.map((swap) => ({ ...swap, effective_at }));
    return { addon, swaps, proration_behavior: 'create_prorations', drafts };
  }
  if ((request.start_date ?? at) < current_period_start)
    throw invalidField(
      'start_date',
      `must not be before the running period, which began at ${current_period_start}, if a checkout session pays for the addon`,
    );
  const { addon, change } = await planAttachment(tx, deps, caller, subscription, request, at);
  await writeAttachment(tx, addon);
  const { proration_behavior } = request;
  return { addon, swaps: change.swaps, proration_behavior, drafts: [] };
}
