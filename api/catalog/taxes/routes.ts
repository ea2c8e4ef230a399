import { invalidField } from '../../../domain/errors.ts';
import { validateTaxPercentage } from '../../../domain/invoicing/tax-resolution.ts';
import { decimal } from '../../../domain/money.ts';
import { IdParams } from '../../../schemas/primitives.ts';
import { pageOf } from '../../../schemas/search.ts';
import {
  CreateTaxRateBody,
  TaxRate,
  TaxRateSearch,
  UpdateTaxRateBody,
} from '../../../schemas/tax.ts';
import { changed, newRecord, sent, sentOr } from '../../conventions/record.ts';
import { route } from '../../conventions/route.ts';
import {
  getTaxRate,
  insertTaxRate,
  isTaxRateUsed,
  lockTaxRate,
  searchTaxRates,
  updateTaxRateRow,
} from './repository.ts';

export const taxRoutes = [
  route({
    method: 'POST',
    path: '/taxes/rates',
    summary: 'Create a tax rate',
    permission: 'tax:write',
    body: CreateTaxRateBody,
    status: 201,
    answer: TaxRate,
    handler: (call) =>
      call.deps.pool.begin((tx) => {
        validateTaxPercentage(call.body.percentage_value);
        return insertTaxRate(tx, {
          ...newRecord(call.deps, call, 'taxrate'),
          name: call.body.name,
          code: call.body.code,
          description: call.body.description ?? null,
          tax_rate_type: 'percentage',
          percentage_value: call.body.percentage_value,
          scope: call.body.scope ?? 'INTERNAL',
          tax_rate_status: call.body.tax_rate_status ?? 'ACTIVE',
          metadata: call.body.metadata ?? {},
        });
      }),
  }),
  route({
    method: 'GET',
    path: '/taxes/rates',
    summary: 'List tax rates',
    permission: 'tax:read',
    query: TaxRateSearch.query,
    status: 200,
    answer: pageOf(TaxRate),
    handler: ({ deps, scope, query }) => searchTaxRates(deps.pool, scope, query),
  }),
  route({
    method: 'POST',
    path: '/taxes/rates/search',
    summary: 'Search tax rates',
    permission: 'tax:read',
    body: TaxRateSearch.body,
    status: 200,
    answer: pageOf(TaxRate),
    handler: ({ deps, scope, body }) => searchTaxRates(deps.pool, scope, body),
  }),
  route({
    method: 'GET',
    path: '/taxes/rates/{id}',
    summary: 'Get a tax rate',
    permission: 'tax:read',
    params: IdParams,
    status: 200,
    answer: TaxRate,
    handler: ({ deps, scope, params }) => getTaxRate(deps.pool, scope, params.id),
  }),
  route({
    method: 'PUT',
    path: '/taxes/rates/{id}',
    summary: 'Update a tax rate that is not in use',
    permission: 'tax:write',
    params: IdParams,
    body: UpdateTaxRateBody,
    status: 200,
    answer: TaxRate,
    handler: (call) =>
      call.deps.pool.begin(async (tx) => {
        const rate = await lockTaxRate(tx, call.scope, call.params.id);
        if (await isTaxRateUsed(tx, call.scope, rate.id))
          throw invalidField('id', 'the tax rate has associations');
        const { tax_rate_status, percentage_value, ...rest } = call.body;
        if (percentage_value != null && !decimal(percentage_value).eq(rate.percentage_value))
          throw invalidField(
            'percentage_value',
            'a rate keeps its percentage; create another rate',
          );
        return await updateTaxRateRow(tx, call.scope, rate.id, {
          ...sent(rest),
          ...sentOr({ tax_rate_status }, { tax_rate_status: 'ACTIVE' }),
          ...changed(call.deps, call),
        });
      }),
  }),
  route({
    method: 'DELETE',
    path: '/taxes/rates/{id}',
    summary: 'Archive a tax rate that is not in use',
    permission: 'tax:write',
    params: IdParams,
    status: 204,
    answer: null,
    handler: (call) =>
      call.deps.pool.begin(async (tx) => {
        const rate = await lockTaxRate(tx, call.scope, call.params.id);
        if (await isTaxRateUsed(tx, call.scope, rate.id))
          throw invalidField('id', 'the tax rate has associations; remove them first');
        await updateTaxRateRow(tx, call.scope, rate.id, {
          status: 'archived',
          ...changed(call.deps, call),
        });
      }),
  }),
];
