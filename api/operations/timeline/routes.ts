import { pageOf } from '../../../schemas/search.ts';
import { TimelineEntry, TimelineSearchBody } from '../../../schemas/timeline.ts';
import { getInvoice } from '../../billing/records/invoice-repository.ts';
import { getSubscription } from '../../billing/records/subscription-repository.ts';
import { route } from '../../conventions/route.ts';
import { getCustomer } from '../../customers/customers/repository.ts';
import { searchTimeline, type TimelineOwner } from './repository.ts';

export const timelineRoutes = [
  route({
    method: 'POST',
    path: '/timeline/search',
    summary: 'Search the timeline of a customer, a subscription or an invoice',
    permission: 'audit_log:read',
    body: TimelineSearchBody,
    status: 200,
    answer: pageOf(TimelineEntry),
    async handler({ deps: { pool }, scope, body }) {
      const owner = ownerOf(body);
      if (owner.kind === 'customer') await getCustomer(pool, scope, owner.id);
      if (owner.kind === 'subscription') await getSubscription(pool, scope, owner.id);
      if (owner.kind === 'invoice') await getInvoice(pool, scope, owner.id);
      return await searchTimeline(pool, scope, owner, body);
    },
  }),
];

/** The schema has checked that exactly one is sent. */
function ownerOf(body: TimelineSearchBody): TimelineOwner {
  if (body.customer_id != null) return { kind: 'customer', id: body.customer_id };
  if (body.subscription_id != null) return { kind: 'subscription', id: body.subscription_id };
  return { kind: 'invoice', id: body.invoice_id! };
}
