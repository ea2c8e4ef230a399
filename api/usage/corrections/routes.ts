import { Correction, CorrectionSearch, CreateCorrectionBody } from '../../../schemas/correction.ts';
import { IdParams } from '../../../schemas/primitives.ts';
import { pageOf } from '../../../schemas/search.ts';
import { route } from '../../conventions/route.ts';
import { correctEvent } from './correct-event.ts';
import { getCorrection, searchCorrections } from './repository.ts';

export const correctionRoutes = [
  route({
    method: 'POST',
    path: '/events/corrections',
    summary: 'Void an event: its usage is removed; its copies and finalized invoices stay',
    permission: 'correction:write',
    ownsTransactions: true,
    body: CreateCorrectionBody,
    status: 202,
    answer: Correction,
    handler: async (call) => {
      const correction = await correctEvent(call.deps, call, call.body);
      if (correction.logged_at === null) call.afterCommit(call.deps.logCorrections);
      return correction;
    },
  }),
  route({
    method: 'GET',
    path: '/events/corrections',
    summary: 'List corrections of events',
    permission: 'correction:read',
    query: CorrectionSearch.query,
    status: 200,
    answer: pageOf(Correction),
    handler: ({ deps, scope, query }) => searchCorrections(deps.pool, scope, query),
  }),
  route({
    method: 'POST',
    path: '/events/corrections/search',
    summary: 'Search corrections of events',
    permission: 'correction:read',
    body: CorrectionSearch.body,
    status: 200,
    answer: pageOf(Correction),
    handler: ({ deps, scope, body }) => searchCorrections(deps.pool, scope, body),
  }),
  route({
    method: 'GET',
    path: '/events/corrections/{id}',
    summary: 'Get a correction of an event',
    permission: 'correction:read',
    params: IdParams,
    status: 200,
    answer: Correction,
    handler: ({ deps, scope, params }) => getCorrection(deps.pool, scope, params.id),
  }),
];
