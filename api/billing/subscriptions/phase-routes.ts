import { IdParams, Message } from '../../../schemas/primitives.ts';
import { pageOf, PageQuery } from '../../../schemas/search.ts';
import { SubscriptionPhase } from '../../../schemas/subscription-phase.ts';
import {
  SubscriptionPhaseRequest,
  UpdateSubscriptionPhaseBody,
} from '../../../schemas/subscription-requests.ts';
import { route } from '../../conventions/route.ts';
import { pageOfPhases } from '../records/phase-repository.ts';
import { getSubscription } from '../records/subscription-repository.ts';
import { addPhase, deletePhase, getPhase, updatePhase } from './edit-phases.ts';

const PhaseParams = IdParams.extend({ phase_id: IdParams.shape.id });

/** Phases of a subscription (billing 11). */
export const phaseRoutes = [
  route({
    method: 'GET',
    path: '/subscriptions/{id}/phases',
    summary: 'List the phases of a subscription, earliest first',
    permission: 'subscription:read',
    params: IdParams,
    query: PageQuery,
    status: 200,
    answer: pageOf(SubscriptionPhase),
    async handler({ deps, scope, params, query }) {
      const { id } = await getSubscription(deps.pool, scope, params.id);
      return await pageOfPhases(deps.pool, scope, id, query);
    },
  }),
  route({
    method: 'GET',
    path: '/subscriptions/{id}/phases/{phase_id}',
    summary: 'Get a phase of a subscription',
    permission: 'subscription:read',
    params: PhaseParams,
    status: 200,
    answer: SubscriptionPhase,
    handler: ({ deps, scope, params }) => getPhase(deps.pool, scope, params.id, params.phase_id),
  }),
  route({
    method: 'POST',
    path: '/subscriptions/{id}/phases',
    summary: 'Add a phase after the last one',
    permission: 'subscription:write',
    params: IdParams,
    body: SubscriptionPhaseRequest,
    status: 201,
    answer: SubscriptionPhase,
    handler: (call) =>
      call.deps.pool.begin((tx) => addPhase(tx, call.deps, call, call.params.id, call.body)),
  }),
  route({
    method: 'PUT',
    path: '/subscriptions/{id}/phases/{phase_id}',
    summary: 'Update metadata or dates of a phase; the neighbouring phases are adjusted',
    permission: 'subscription:write',
    params: PhaseParams,
    body: UpdateSubscriptionPhaseBody,
    status: 200,
    answer: SubscriptionPhase,
    handler: (call) =>
      call.deps.pool.begin((tx) =>
        updatePhase(tx, call.deps, call, call.params.id, call.params.phase_id, call.body),
      ),
  }),
  route({
    method: 'DELETE',
    path: '/subscriptions/{id}/phases/{phase_id}',
    summary: 'Delete a phase that has not begun; the phase before it is extended to its end',
    permission: 'subscription:write',
    params: PhaseParams,
    status: 200,
    answer: Message,
    handler: (call) =>
      call.deps.pool.begin(async (tx) => {
        await deletePhase(tx, call.deps, call, call.params.id, call.params.phase_id);
        return { message: 'Phase removed' };
      }),
  }),
];
