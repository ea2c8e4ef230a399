import { invalidField } from '../../../domain/errors.ts';
import { validateTaxPercentage } from '../../../domain/invoicing/tax-resolution.ts';
import type { Db, Scope } from '../../../postgres/client.ts';
import { IdParams } from '../../../schemas/primitives.ts';
import { pageOf } from '../../../schemas/search.ts';
import {
  CreateTaxAssociationBody,
  CreateTaxRateBody,
  TaxAssociation,
  TaxAssociationSearch,
  TaxRate,
  TaxRateSearch,
  UpdateTaxAssociationBody,
  UpdateTaxRateBody,
} from '../../../schemas/tax.ts';
import { findCustomerByExternalId } from '../../customers/customers/repository.ts';
import { changed, newRecord, sent } from '../../conventions/record.ts';
import { route } from '../../conventions/route.ts';
import { createTaxAssociation } from '../../customers/tax-associations/create-tax-association.ts';
import {
  findTaxAssociation,
  findTaxRate,
  insertTaxRate,
  isTaxRateUsed,
  lockTaxRate,
  searchTaxAssociations,
  searchTaxRates,
  updateTaxAssociationRow,
  updateTaxRateRow,
  type TaxAssociationFilter,
} from './repository.ts';

/** 404 for an unknown `external_customer_id`; 400 beside another entity than that customer. */
async function findAssociations(
  db: Db,
  scope: Scope,
  filter: TaxAssociationFilter & { readonly external_customer_id?: string | null },
) {
  const { external_customer_id: externalId } = filter;
  if (!externalId) return await searchTaxAssociations(db, scope, filter);
  if (filter.entity_type && filter.entity_type !== 'customer')
    throw invalidField('external_customer_id', 'names a customer; entity_type is another');
  const { id } = await findCustomerByExternalId(db, scope, externalId);
  if (filter.entity_id && filter.entity_id !== id)
    throw invalidField('entity_id', 'names another customer than external_customer_id');
  return await searchTaxAssociations(db, scope, {
    ...filter,
    entity_type: 'customer',
    entity_id: id,
  });
}

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
          fixed_value: null,
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
    handler: ({ deps, scope, params }) => findTaxRate(deps.pool, scope, params.id),
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
        const { tax_rate_status, ...rest } = call.body;
        return await updateTaxRateRow(tx, call.scope, rate.id, {
          ...sent(rest),
          ...(tax_rate_status == null ? {} : { tax_rate_status }),
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
  route({
    method: 'POST',
    path: '/taxes/associations',
    summary: 'Associate a tax rate',
    permission: 'tax:write',
    body: CreateTaxAssociationBody,
    status: 200,
    answer: TaxAssociation,
    handler: (call) =>
      call.deps.pool.begin((tx) => createTaxAssociation(tx, call.deps, call, call.body)),
  }),
  route({
    method: 'GET',
    path: '/taxes/associations',
    summary: 'List tax associations',
    permission: 'tax:read',
    query: TaxAssociationSearch.query,
    status: 200,
    answer: pageOf(TaxAssociation),
    handler: ({ deps, scope, query }) => findAssociations(deps.pool, scope, query),
  }),
  route({
    method: 'POST',
    path: '/taxes/associations/search',
    summary: 'Search tax associations',
    permission: 'tax:read',
    body: TaxAssociationSearch.body,
    status: 200,
    answer: pageOf(TaxAssociation),
    handler: ({ deps, scope, body }) => findAssociations(deps.pool, scope, body),
  }),
  route({
    method: 'GET',
    path: '/taxes/associations/{id}',
    summary: 'Get a tax association with its rate',
    permission: 'tax:read',
    params: IdParams,
    status: 200,
    answer: TaxAssociation,
    handler: ({ deps, scope, params }) => findTaxAssociation(deps.pool, scope, params.id),
  }),
  route({
    method: 'PUT',
    path: '/taxes/associations/{id}',
    summary: 'Update a tax association',
    permission: 'tax:write',
    params: IdParams,
    body: UpdateTaxAssociationBody,
    status: 200,
    answer: TaxAssociation,
    handler: (call) =>
      call.deps.pool.begin(async (tx) => {
        const { priority, auto_apply, metadata } = call.body;
        const row = await updateTaxAssociationRow(tx, call.scope, call.params.id, {
          ...(priority == null ? {} : { priority }),
          ...(auto_apply == null ? {} : { auto_apply }),
          ...sent({ metadata }),
          ...changed(call.deps, call),
        });
        return { ...row, tax_rate: null };
      }),
  }),
  route({
    method: 'DELETE',
    path: '/taxes/associations/{id}',
    summary: 'Archive a tax association',
    permission: 'tax:write',
    params: IdParams,
    status: 200,
    answer: TaxAssociation,
    handler: (call) =>
      call.deps.pool.begin(async (tx) => {
        const row = await updateTaxAssociationRow(tx, call.scope, call.params.id, {
          status: 'archived',
          ...changed(call.deps, call),
        });
        return { ...row, tax_rate: null };
      }),
  }),
];
