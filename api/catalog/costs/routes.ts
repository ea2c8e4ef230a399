import { invalidOperation } from '../../../domain/errors.ts';
import {
  Costsheet,
  CostsheetDeleted,
  CostsheetQuery,
  CostsheetRead,
  CostsheetSearch,
  CostsheetWritten,
  CreateCostsheetBody,
  UpdateCostsheetBody,
} from '../../../schemas/costsheet.ts';
import { IdParams } from '../../../schemas/primitives.ts';
import { pageOf } from '../../../schemas/search.ts';
import { changed, newRecord, sent } from '../../conventions/record.ts';
import { route } from '../../conventions/route.ts';
import {
  getActiveCostsheet,
  getCostsheet,
  insertCostsheet,
  lockCostsheet,
  searchCostsheets,
  updateCostsheetRow,
  withPrices,
  type CostsheetRow,
} from './repository.ts';

export const costRoutes = [
  route({
    method: 'POST',
    path: '/costs',
    summary: 'Create a costsheet',
    permission: 'costsheet:write',
    body: CreateCostsheetBody,
    status: 201,
    answer: CostsheetWritten,
    handler: (call) =>
      call.deps.pool.begin(async (tx) => {
        const row: CostsheetRow = {
          ...newRecord(call.deps, call, 'cost'),
          name: call.body.name,
          lookup_key: call.body.lookup_key ?? null,
          description: call.body.description ?? null,
          metadata: call.body.metadata ?? {},
        };
        await insertCostsheet(tx, row);
        return { costsheet: { ...row, prices: null } };
      }),
  }),
  route({
    method: 'POST',
    path: '/costs/search',
    summary: 'Search costsheets',
    permission: 'costsheet:read',
    body: CostsheetSearch.body,
    status: 200,
    answer: pageOf(Costsheet),
    handler: ({ deps, scope, body }) => searchCostsheets(deps.pool, scope, body),
  }),
  route({
    method: 'GET',
    path: '/costs/active',
    summary: 'Get the newest published costsheet',
    permission: 'costsheet:read',
    status: 200,
    answer: Costsheet,
    async handler({ deps, scope }) {
      const row = await getActiveCostsheet(deps.pool, scope);
      const [costsheet] = await withPrices(deps.pool, scope, [row]);
      return costsheet!;
    },
  }),
  route({
    method: 'GET',
    path: '/costs/{id}',
    summary: 'Get a costsheet with its prices',
    permission: 'costsheet:read',
    params: IdParams,
    query: CostsheetQuery,
    status: 200,
    answer: CostsheetRead,
    async handler({ deps, scope, params }) {
      const row = await getCostsheet(deps.pool, scope, params.id);
      const [costsheet] = await withPrices(deps.pool, scope, [row]);
      return { ...costsheet!, costsheet: costsheet! };
    },
  }),
  route({
    method: 'PUT',
    path: '/costs/{id}',
    summary: 'Update a costsheet',
    permission: 'costsheet:write',
    params: IdParams,
    body: UpdateCostsheetBody,
    status: 200,
    answer: CostsheetWritten,
    handler: (call) =>
      call.deps.pool.begin(async (tx) => {
        const row = await updateCostsheetRow(tx, call.scope, call.params.id, {
          ...sent(call.body),
          ...changed(call.deps, call),
        });
        return { costsheet: { ...row, prices: null } };
      }),
  }),
  route({
    method: 'DELETE',
    path: '/costs/{id}',
    summary: 'Archive a costsheet; it stays readable',
    permission: 'costsheet:write',
    params: IdParams,
    status: 200,
    answer: CostsheetDeleted,
    handler: (call) =>
      call.deps.pool.begin(async (tx) => {
        const row = await lockCostsheet(tx, call.scope, call.params.id);
        if (row.status === 'deleted') throw invalidOperation('The costsheet was deleted already.');
        await updateCostsheetRow(tx, call.scope, row.id, {
          status: 'deleted',
          ...changed(call.deps, call),
        });
        return { message: 'Costsheet deleted successfully', id: row.id };
      }),
  }),
];
