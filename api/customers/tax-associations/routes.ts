import { invalidField } from '../../../domain/errors.ts';
import type { Db, Scope } from '../../../postgres/client.ts';
import { IdParams } from '../../../schemas/primitives.ts';
import { pageOf } from '../../../schemas/search.ts';
import {
  CreateTaxAssociationBody,
  TaxAssociation,
  TaxAssociationSearch,
  UpdateTaxAssociationBody,
} from '../../../schemas/tax.ts';
import { getCustomerByExternalId } from '../customers/repository.ts';
import { DEFAULT_TAX_TERMS } from '../../catalog/taxes/associate-tax-rate.ts';
import { changed, sent, sentOr } from '../../conventions/record.ts';
import { route } from '../../conventions/route.ts';
import { createTaxAssociation } from './create-tax-association.ts';
import {
  getTaxAssociation,
  searchTaxAssociations,
  updateTaxAssociationRow,
  type TaxAssociationFilter,
} from '../../catalog/taxes/repository.ts';

/** 404 for an unknown `external_customer_id`; 400 if combined with an entity other than that customer. */
async function findAssociations(
  db: Db,
  scope: Scope,
  filter: TaxAssociationFilter & { readonly external_customer_id?: string | null },
) {
  const { external_customer_id: externalId } = filter;
  if (!externalId) return await searchTaxAssociations(db, scope, filter);
  if (filter.entity_type && filter.entity_type !== 'customer')
    throw invalidField('external_customer_id', 'names a customer, but entity_type is not customer');
  const { id } = await getCustomerByExternalId(db, scope, externalId);
  if (filter.entity_id && filter.entity_id !== id)
    throw invalidField('entity_id', 'names another customer than external_customer_id');
  return await searchTaxAssociations(db, scope, {
    ...filter,
    entity_type: 'customer',
    entity_id: id,
  });
}

export const taxAssociationRoutes = [
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
    handler: ({ deps, scope, params }) => getTaxAssociation(deps.pool, scope, params.id),
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
        const { priority, auto_apply, tax_behavior, metadata } = call.body;
        const row = await updateTaxAssociationRow(tx, call.scope, call.params.id, {
          ...sentOr({ priority, auto_apply, tax_behavior }, DEFAULT_TAX_TERMS),
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
