import { endPrice } from '../../../domain/pricing/price-version.ts';
import { isoTime } from '../../../platform/clock.ts';
import type { Scope } from '../../../postgres/client.ts';
import { LookupKeyParams } from '../../../schemas/customer.ts';
import {
  BulkPrices,
  CreateBulkPriceBody,
  CreatePriceBody,
  DeletePriceBody,
  Price,
  PriceQuery,
  PriceSearch,
  UpdatePriceBody,
} from '../../../schemas/price.ts';
import { CalculatePriceBody, PriceCalculation } from '../../../schemas/price-calculation.ts';
import { IdParams, Message } from '../../../schemas/primitives.ts';
import { pageOf, type Search } from '../../../schemas/search.ts';
import type { BillingDeps } from '../../deps.ts';
import { changed } from '../../conventions/record.ts';
import { route } from '../../conventions/route.ts';
import { calculatePrice } from './calculate-price.ts';
import { createPrices } from './create-prices.ts';
import {
  getPrice,
  getPriceByLookupKey,
  lockPrice,
  priceAnswers,
  searchPrices,
  updatePriceRow,
  type PriceRow,
} from './repository.ts';
import { updatePrice } from './update-price.ts';

/** A single price with its default and its requested embedded records. */
async function read({ deps, scope, query }: ReadCall, row: PriceRow): Promise<Price> {
  const { expand } = query.search;
  const [price] = await priceAnswers(deps.pool, scope, [row], {
    meter: true,
    group: true,
    pricing_unit: true,
    plan: expand.has('plan'),
    addon: expand.has('addons'),
    features: expand.has('features'),
  });
  return price!;
}

interface ReadCall {
  readonly deps: BillingDeps;
  readonly scope: Scope;
  readonly query: { readonly search: Search };
}

export const priceRoutes = [
  route({
    method: 'POST',
    path: '/prices',
    summary: 'Create a price',
    permission: 'price:write',
    body: CreatePriceBody,
    status: 201,
    answer: Price,
    handler: (call) =>
      call.deps.pool.begin(async (tx) => {
        const rows = await createPrices(tx, call.deps, call, [call.body], { bulk: false });
        const [price] = await priceAnswers(tx, call.scope, rows, { pricing_unit: true });
        return price!;
      }),
  }),
  route({
    method: 'POST',
    path: '/prices/bulk',
    summary: 'Create up to 100 prices, all or none',
    permission: 'price:write',
    body: CreateBulkPriceBody,
    status: 201,
    answer: BulkPrices,
    handler: (call) =>
      call.deps.pool.begin(async (tx) => {
        const rows = await createPrices(tx, call.deps, call, call.body.items, { bulk: true });
        return { items: await priceAnswers(tx, call.scope, rows, {}) };
      }),
  }),
  route({
    method: 'GET',
    path: '/prices',
    summary: 'List prices',
    permission: 'price:read',
    query: PriceSearch.query,
    status: 200,
    answer: pageOf(Price),
    handler: ({ deps, scope, query }) =>
      searchPrices(deps.pool, scope, query, isoTime(deps.clock.now())),
  }),
  route({
    method: 'POST',
    path: '/prices/search',
    summary: 'Search prices',
    permission: 'price:read',
    body: PriceSearch.body,
    status: 200,
    answer: pageOf(Price),
    handler: ({ deps, scope, body }) =>
      searchPrices(deps.pool, scope, body, isoTime(deps.clock.now())),
  }),
  route({
    method: 'POST',
    path: '/prices/calculate',
    summary: 'Calculate what quantities cost at a stored or an unsaved price',
    permission: 'price:read',
    body: CalculatePriceBody,
    status: 200,
    answer: PriceCalculation,
    handler: ({ deps, scope, body }) => deps.pool.begin((tx) => calculatePrice(tx, scope, body)),
  }),
  route({
    method: 'GET',
    path: '/prices/lookup/{lookup_key}',
    summary: 'Get the current price by its lookup key',
    permission: 'price:read',
    params: LookupKeyParams,
    query: PriceQuery,
    status: 200,
    answer: Price,
    handler: async (call) =>
      read(call, await getPriceByLookupKey(call.deps.pool, call.scope, call.params.lookup_key)),
  }),
  route({
    method: 'GET',
    path: '/prices/{id}',
    summary: 'Get a price',
    permission: 'price:read',
    params: IdParams,
    query: PriceQuery,
    status: 200,
    answer: Price,
    handler: async (call) => read(call, await getPrice(call.deps.pool, call.scope, call.params.id)),
  }),
  route({
    method: 'PUT',
    path: '/prices/{id}',
    summary: 'Update text in place; a change of terms creates a new version',
    permission: 'price:write',
    params: IdParams,
    body: UpdatePriceBody,
    status: 200,
    answer: Price,
    handler: (call) =>
      call.deps.pool.begin(async (tx) => {
        const row = await updatePrice(tx, call.deps, call, call.params.id, call.body);
        const [price] = await priceAnswers(tx, call.scope, [row], { pricing_unit: true });
        return price!;
      }),
  }),
  route({
    method: 'DELETE',
    path: '/prices/{id}',
    summary: 'End a price; line items that exist keep it until the next sync',
    permission: 'price:write',
    params: IdParams,
    body: DeletePriceBody,
    status: 200,
    answer: Message,
    handler: (call) =>
      call.deps.pool.begin(async (tx) => {
        const price = await lockPrice(tx, call.scope, call.params.id);
        await updatePriceRow(tx, call.scope, price.id, {
          end_date: endPrice(price, call.body, isoTime(call.deps.clock.now())),
          ...changed(call.deps, call),
        });
        return { message: 'price deleted successfully' };
      }),
  }),
];
