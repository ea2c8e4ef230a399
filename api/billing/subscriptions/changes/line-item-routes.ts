import { isoTime } from '../../../../platform/clock.ts';
import type { Scope } from '../../../../postgres/client.ts';
import type { z } from 'zod';
import { IdParams } from '../../../../schemas/primitives.ts';
import { pageOf, type Page } from '../../../../schemas/search.ts';
import {
  AddLineItemBody,
  ChangeLineItemBody,
  EndLineItemBody,
  LineItemSearch,
} from '../../../../schemas/subscription-line-items.ts';
import { SubscriptionLineItem, type LineItemRow } from '../../../../schemas/subscription.ts';
import { route } from '../../../conventions/route.ts';
import type { BillingDeps } from '../../../deps.ts';
import { getLineItem, searchLineItems } from '../../records/line-item-repository.ts';
import { lineItemAnswers } from '../../records/subscription-answers.ts';
import { addLineItem } from './add-line-item.ts';
import { changeLineItemTerms } from './change-line-item-terms.ts';
import { endLineItem } from './end-line-item.ts';

/** Line items of running subscriptions. */
export const lineItemRoutes = [
  route({
    method: 'POST',
    path: '/subscriptions/lineitems/search',
    summary: 'Search the line items of subscriptions, including ended ones',
    permission: 'subscription:read',
    body: LineItemSearch.body,
    status: 200,
    answer: pageOf(SubscriptionLineItem),
    handler: ({ deps, scope, body }) => listLineItems(deps, scope, body),
  }),
  route({
    method: 'GET',
    path: '/subscriptions/lineitems/{id}',
    summary: 'Get a line item of a subscription',
    permission: 'subscription:read',
    params: IdParams,
    status: 200,
    answer: SubscriptionLineItem,
    handler: async ({ deps, scope, params }) =>
      await answerOf(deps, scope, await getLineItem(deps.pool, scope, params.id)),
  }),
  route({
    method: 'POST',
    path: '/subscriptions/{id}/lineitems',
    summary: 'Add a line item to a subscription',
    permission: 'subscription:write',
    ownsTransactions: true,
    params: IdParams,
    body: AddLineItemBody,
    status: 201,
    answer: SubscriptionLineItem,
    handler: async (call) =>
      await answerOf(
        call.deps,
        call.scope,
        await addLineItem(call.deps, call, call.params.id, call.body),
      ),
  }),
  route({
    method: 'PUT',
    path: '/subscriptions/lineitems/{id}',
    summary: 'Change the terms of a line item: ends it and creates a new one',
    permission: 'subscription:write',
    params: IdParams,
    body: ChangeLineItemBody,
    status: 200,
    answer: SubscriptionLineItem,
    handler: async (call) =>
      await answerOf(
        call.deps,
        call.scope,
        await changeLineItemTerms(call.deps, call, call.params.id, call.body),
      ),
  }),
  route({
    method: 'DELETE',
    path: '/subscriptions/lineitems/{id}',
    summary: 'End a line item',
    permission: 'subscription:write',
    params: IdParams,
    body: EndLineItemBody,
    status: 200,
    answer: SubscriptionLineItem,
    handler: async (call) =>
      await answerOf(
        call.deps,
        call.scope,
        await endLineItem(call.deps, call, call.params.id, call.body),
      ),
  }),
];

async function answerOf(
  { pool }: Pick<BillingDeps, 'pool'>,
  scope: Scope,
  line: LineItemRow,
): Promise<SubscriptionLineItem> {
  const [answer] = await lineItemAnswers(pool, scope, [line], {});
  return answer!;
}

async function listLineItems(
  deps: Pick<BillingDeps, 'pool' | 'clock'>,
  scope: Scope,
  filter: z.output<typeof LineItemSearch.body>,
): Promise<Page<SubscriptionLineItem>> {
  const { pool: db } = deps;
  const { search } = filter;
  const at = filter.current_period_start ?? isoTime(deps.clock.now());
  const page = await searchLineItems(db, scope, filter, at);
  const items = await lineItemAnswers(db, scope, page.items, {
    prices: search.expand.has('prices'),
  });
  return { ...page, items };
}
