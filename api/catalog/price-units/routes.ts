import { problems } from '../../../domain/pricing/problems.ts';
import { isIsoCurrency } from '../../../domain/currency.ts';
import { invalidField, notFound } from '../../../domain/errors.ts';
import {
  CreatePriceUnitBody,
  PriceUnit,
  PriceUnitCodeParams,
  PriceUnitSearch,
  UpdatePriceUnitBody,
} from '../../../schemas/price-unit.ts';
import { IdParams, Message } from '../../../schemas/primitives.ts';
import { pageOf } from '../../../schemas/search.ts';
import { changed, newRecord, sent } from '../../conventions/record.ts';
import { route } from '../../conventions/route.ts';
import { assertKnownCurrency } from '../../tenancy/settings/custom-currencies.ts';
import {
  getPriceUnit,
  insertPriceUnit,
  publishedUnitByCode,
  searchPriceUnits,
  updatePriceUnitRow,
} from './repository.ts';

type Terms = Pick<PriceUnit, 'code' | 'symbol' | 'base_currency' | 'conversion_rate'>;

/** 400 names each field that is not what the unit has: prices keep the rate that they were made with (money 12.1). */
function refuseOtherTerms(
  unit: Terms,
  asked: Readonly<Record<keyof Terms, string | null | undefined>>,
): void {
  const found = problems();
  for (const field of ['code', 'symbol', 'base_currency', 'conversion_rate'] as const)
    if (asked[field] != null && asked[field] !== unit[field])
      found.add(field, 'immutable', 'cannot be changed: create another pricing unit');
  found.refuse();
}

export const priceUnitRoutes = [
  route({
    method: 'POST',
    path: '/prices/units',
    summary: 'Create a pricing unit',
    permission: 'price:write',
    body: CreatePriceUnitBody,
    status: 201,
    answer: PriceUnit,
    async handler(call) {
      // An amount in the unit would look like an amount in the currency (money 12.1).
      if (isIsoCurrency(call.body.code))
        throw invalidField('code', `${call.body.code} is the code of a currency`);
      return await call.deps.pool.begin(async (tx) => {
        await assertKnownCurrency(tx, call.scope, call.body.base_currency, 'base_currency');
        return await insertPriceUnit(tx, {
          ...newRecord(call.deps, call, 'price_unit'),
          ...call.body,
          metadata: call.body.metadata ?? {},
        });
      });
    },
  }),
  route({
    method: 'GET',
    path: '/prices/units',
    summary: 'List pricing units',
    permission: 'price:read',
    query: PriceUnitSearch.query,
    status: 200,
    answer: pageOf(PriceUnit),
    handler: ({ deps, scope, query }) => searchPriceUnits(deps.pool, scope, query),
  }),
  route({
    method: 'POST',
    path: '/prices/units/search',
    summary: 'Search pricing units',
    permission: 'price:read',
    body: PriceUnitSearch.body,
    status: 200,
    answer: pageOf(PriceUnit),
    handler: ({ deps, scope, body }) => searchPriceUnits(deps.pool, scope, body),
  }),
  route({
    method: 'GET',
    path: '/prices/units/code/{code}',
    summary: 'Get a published pricing unit by its code',
    permission: 'price:read',
    params: PriceUnitCodeParams,
    status: 200,
    answer: PriceUnit,
    async handler({ deps, scope, params }) {
      const unit = await publishedUnitByCode(deps.pool, scope, params.code);
      if (unit === null) throw notFound('Price unit', params.code);
      return unit;
    },
  }),
  route({
    method: 'GET',
    path: '/prices/units/{id}',
    summary: 'Get a pricing unit',
    permission: 'price:read',
    params: IdParams,
    status: 200,
    answer: PriceUnit,
    handler: ({ deps, scope, params }) => getPriceUnit(deps.pool, scope, params.id),
  }),
  route({
    method: 'PUT',
    path: '/prices/units/{id}',
    summary: 'Rename a pricing unit',
    permission: 'price:write',
    params: IdParams,
    body: UpdatePriceUnitBody,
    status: 200,
    answer: PriceUnit,
    handler: (call) =>
      call.deps.pool.begin(async (tx) => {
        const { code, symbol, base_currency, conversion_rate, ...changes } = call.body;
        const unit = await getPriceUnit(tx, call.scope, call.params.id);
        refuseOtherTerms(unit, { code, symbol, base_currency, conversion_rate });
        return await updatePriceUnitRow(tx, call.scope, unit.id, {
          ...sent(changes),
          ...changed(call.deps, call),
        });
      }),
  }),
  route({
    method: 'DELETE',
    path: '/prices/units/{id}',
    summary: 'Archive a pricing unit; existing prices keep its conversion rate',
    permission: 'price:write',
    params: IdParams,
    status: 200,
    answer: Message,
    async handler(call) {
      await call.deps.pool.begin((tx) =>
        updatePriceUnitRow(tx, call.scope, call.params.id, {
          status: 'archived',
          ...changed(call.deps, call),
        }),
      );
      return { message: 'Price unit deleted successfully' };
    },
  }),
];
