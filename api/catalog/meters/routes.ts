import {
  BackfillMeterBody,
  CreateMeterBody,
  Meter,
  MeterSearch,
  MeterVersion,
  UpdateMeterBody,
} from '../../../schemas/meter.ts';
import { IdParams, Message } from '../../../schemas/primitives.ts';
import { pageOf, PageQuery } from '../../../schemas/search.ts';
import type { BillingDeps } from '../../deps.ts';
import type { Caller } from '../../conventions/record.ts';
import { route } from '../../conventions/route.ts';
import { backfillMeter } from './backfill-meter.ts';
import { createMeter } from './create-meter.ts';
import { disableMeter } from './disable-meter.ts';
import { editMeter } from './edit-meter.ts';
import { archiveMeter, getMeter, lockMeter, searchMeters } from './repository.ts';
import { listMeterVersions } from './versions.ts';

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
    handler: ({ deps, scope, params }) => getMeter(deps.pool, scope, params.id),
  }),
  route({
    method: 'PUT',
    path: '/meters/{id}',
    summary: 'Update a meter; a change to what it counts creates its next version',
    permission: 'meter:write',
    params: IdParams,
    body: UpdateMeterBody,
    status: 200,
    answer: Meter,
    handler: (call) =>
      call.deps.pool.begin((tx) => editMeter(tx, call.deps, call, call.params.id, call.body)),
  }),
  route({
    method: 'POST',
    path: '/meters/{id}/disable',
    summary: 'Archive a meter and end its versions; later events are not counted',
    permission: 'meter:write',
    params: IdParams,
    status: 200,
    answer: Message,
    handler: async (call) => {
      await call.deps.pool.begin((tx) => disableMeter(tx, call.deps, call, call.params.id));
      return { message: 'Meter disabled successfully' };
    },
  }),
  route({
    method: 'GET',
    path: '/meters/{id}/versions',
    summary:
      'List the versions of a meter with backfill, verification and live ranges, newest first',
    permission: 'meter:read',
    params: IdParams,
    query: PageQuery,
    status: 200,
    answer: pageOf(MeterVersion),
    handler: ({ deps, scope, params, query }) =>
      listMeterVersions(deps.pool, scope, params.id, query),
  }),
  route({
    method: 'POST',
    path: '/meters/{id}/backfill',
    summary:
      'Restart the backfill of a mismatched version, or set the time from which a version applies',
    permission: 'meter:write',
    params: IdParams,
    body: BackfillMeterBody.optional(),
    status: 202,
    answer: MeterVersion,
    handler: (call) =>
      call.deps.pool.begin((tx) => backfillMeter(tx, call, call.params.id, call.body ?? {})),
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
