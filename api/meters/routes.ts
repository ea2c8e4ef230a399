import { CreateMeterBody, Meter, MeterSearch, UpdateMeterBody } from '../../schemas/meter.ts';
import { IdParams, Message } from '../../schemas/primitives.ts';
import { pageOf } from '../../schemas/search.ts';
import type { BillingDeps } from '../deps.ts';
import type { Caller } from '../record.ts';
import { route } from '../route.ts';
import { addFilterValues } from './add-filter-values.ts';
import { createMeter } from './create-meter.ts';
import { archiveMeter, findMeter, lockMeter, searchMeters } from './repository.ts';

export const meterRoutes = [
  route({
    method: 'POST',
    path: '/meters',
    summary: 'Create a meter',
    permission: 'meter:write',
    body: CreateMeterBody,
    status: 201,
    answer: Meter,
    handler: (call) => call.deps.pool.begin((tx) => createMeter(tx, call.deps, call, call.body)),
  }),
  route({
    method: 'GET',
    path: '/meters',
    summary: 'List meters',
    permission: 'meter:read',
    query: MeterSearch.query,
    status: 200,
    answer: pageOf(Meter),
    handler: ({ deps, scope, query }) => searchMeters(deps.pool, scope, query),
  }),
  route({
    method: 'POST',
    path: '/meters/search',
    summary: 'Search meters',
    permission: 'meter:read',
    body: MeterSearch.body,
    status: 200,
    answer: pageOf(Meter),
    handler: ({ deps, scope, body }) => searchMeters(deps.pool, scope, body),
  }),
  route({
    method: 'GET',
    path: '/meters/{id}',
    summary: 'Get a meter',
    permission: 'meter:read',
    params: IdParams,
    status: 200,
    answer: Meter,
    handler: ({ deps, scope, params }) => findMeter(deps.pool, scope, params.id),
  }),
  route({
    method: 'PUT',
    path: '/meters/{id}',
    summary: 'Add filter values to a meter',
    permission: 'meter:write',
    params: IdParams,
    body: UpdateMeterBody,
    status: 200,
    answer: Meter,
    handler: (call) =>
      call.deps.pool.begin((tx) =>
        addFilterValues(tx, call.deps, call, call.params.id, call.body.filters),
      ),
  }),
  route({
    method: 'POST',
    path: '/meters/{id}/disable',
    summary: 'Archive a meter',
    permission: 'meter:write',
    params: IdParams,
    status: 200,
    answer: Message,
    handler: (call) => archive(call.deps, call, call.params.id, 'Meter disabled successfully'),
  }),
  route({
    method: 'DELETE',
    path: '/meters/{id}',
    summary: 'Archive a meter',
    permission: 'meter:write',
    params: IdParams,
    status: 200,
    answer: Message,
    handler: (call) => archive(call.deps, call, call.params.id, 'Meter deleted successfully'),
  }),
];

async function archive(deps: BillingDeps, caller: Caller, id: string, message: string) {
  await deps.pool.begin(async (tx) => {
    await lockMeter(tx, caller.scope, id);
    await archiveMeter(tx, deps, caller, id);
  });
  return { message };
}
