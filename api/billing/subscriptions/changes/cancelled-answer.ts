import type { z } from 'zod';
import type { Db, Scope } from '../../../../postgres/client.ts';
import type { CancelledSubscription } from '../../../../schemas/subscription-answers.ts';
import type { CancelSubscriptionBody } from '../../../../schemas/subscription-requests.ts';
import { localDaysBetween } from '../../../../domain/time/local-days.ts';
import { settledAnswers } from '../../invoices/answers.ts';
import type { Cancelled } from './cancel-subscription.ts';

/** A cancellation as answered. */
export async function cancelledAnswer(
  db: Db,
  scope: Scope,
  body: CancelSubscriptionBody,
  { subscription, effective_date, invoice, returned, credit, processed_at }: Cancelled,
): Promise<z.infer<typeof CancelledSubscription>> {
  const [final] = invoice === null ? [] : await settledAnswers(db, scope, [invoice], {});
  return {
    subscription_id: subscription.id,
    cancellation_type: body.cancellation_type,
    effective_date,
    status: subscription.subscription_status,
    reason: body.reason ?? null,
    message: messageOf(subscription.subscription_status === 'cancelled', effective_date),
    processed_at,
    total_credit_amount: credit,
    proration_details: returned.map(({ from, to, plan_name, ...advance }) => ({
      ...advance,
      plan_name,
      charge_amount: '0',
      proration_days: localDaysBetween(from, to, subscription.customer_timezone),
      description: `Cancellation (${from.slice(0, 10)})`,
    })),
    proration_invoice: final ?? null,
  };
}

const messageOf = (isCancelled: boolean, at: string): string =>
  isCancelled ? `Subscription cancelled as of ${at}` : `Subscription will be cancelled at ${at}`;
