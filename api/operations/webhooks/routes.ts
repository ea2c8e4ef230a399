import { invalidOperation, notFound } from '../../../domain/errors.ts';
import { isoTime } from '../../../platform/clock.ts';
import { PAYLOAD_DAYS } from '../../../postgres/tables/forget-expired.ts';
import { dispatchAgain, replayNotifications } from '../../../postgres/tables/webhook-replays.ts';
import { IdParams, Message } from '../../../schemas/primitives.ts';
import { pageOf } from '../../../schemas/search.ts';
import {
  CreateWebhookEndpointBody,
  ReplayedWebhooks,
  ReplayWebhooksBody,
  TestWebhookBody,
  UpdateWebhookEndpointBody,
  WebhookAttempt,
  WebhookAttemptSearch,
  WebhookEndpoint,
  WebhookEndpointSearch,
  WebhookEndpointWithSecret,
} from '../../../schemas/webhooks/endpoint.ts';
import {
  RetriedWebhook,
  RetryWebhookBody,
  WebhookDashboard,
} from '../../../schemas/webhooks/retry.ts';
import { WebhookEventParams, WebhookPayload } from '../../../schemas/webhooks/payloads.ts';
import { route } from '../../conventions/route.ts';
import { searchAttempts } from './attempt-repository.ts';
import { getEndpoint, searchEndpoints } from './endpoint-repository.ts';
import { createEndpoint, deleteEndpoint, rotateSecret, updateEndpoint } from './endpoints.ts';
import { samplePayload } from './sample-payload.ts';
import { sendTest } from './send-test.ts';

/** Maximum notifications per replay. */
const REPLAY_MAX = 10_000;

export const webhookRoutes = [
  route({
    method: 'POST',
    path: '/webhook-events/{event_type}',
    summary: 'Show the body of a notification, as documentation; sends and changes nothing',
    permission: 'public',
    params: WebhookEventParams,
    status: 200,
    answer: WebhookPayload,
    handler: async ({ params }) => samplePayload(params.event_type),
  }),
  route({
    method: 'GET',
    path: '/webhooks/dashboard',
    summary: 'Get the link to the notification dashboard of an external service',
    permission: 'webhook:read',
    status: 200,
    answer: WebhookDashboard,
    handler: async () => ({ svix_enabled: false, url: '' }),
  }),
  route({
    method: 'POST',
    path: '/webhooks/retry',
    summary: 'Send a notification again with its original payload',
    permission: 'webhook:write',
    body: RetryWebhookBody,
    status: 202,
    answer: RetriedWebhook,
    handler: (call) =>
      call.deps.pool.begin(async (tx) => {
        const { system_event_id } = call.body;
        const canBeSent = await dispatchAgain(tx, call.scope, system_event_id);
        if (canBeSent === null) throw notFound('Notification', system_event_id);
        if (!canBeSent)
          throw invalidOperation(
            `The content of a notification is kept for ${PAYLOAD_DAYS} days; ${system_event_id} is older.`,
            'system_event_id',
          );
        return {
          success: true as const,
          message: 'The notification will be sent again',
          system_event_id,
        };
      }),
  }),
  route({
    method: 'POST',
    path: '/webhooks/endpoints',
    summary: 'Create an endpoint that receives notifications; the answer shows its secret once',
    permission: 'webhook:write',
    secretAnswer: true,
    body: CreateWebhookEndpointBody,
    status: 201,
    answer: WebhookEndpointWithSecret,
    handler: (call) => call.deps.pool.begin((tx) => createEndpoint(tx, call.deps, call, call.body)),
  }),
  route({
    method: 'GET',
    path: '/webhooks/endpoints',
    summary: 'List endpoints that receive notifications',
    permission: 'webhook:read',
    query: WebhookEndpointSearch.query,
    status: 200,
    answer: pageOf(WebhookEndpoint),
    handler: ({ deps, scope, query }) => searchEndpoints(deps.pool, scope, query),
  }),
  route({
    method: 'POST',
    path: '/webhooks/endpoints/search',
    summary: 'Search endpoints that receive notifications',
    permission: 'webhook:read',
    body: WebhookEndpointSearch.body,
    status: 200,
    answer: pageOf(WebhookEndpoint),
    handler: ({ deps, scope, body }) => searchEndpoints(deps.pool, scope, body),
  }),
  route({
    method: 'GET',
    path: '/webhooks/endpoints/{id}',
    summary: 'Get an endpoint that receives notifications',
    permission: 'webhook:read',
    params: IdParams,
    status: 200,
    answer: WebhookEndpoint,
    handler: ({ deps, scope, params }) => getEndpoint(deps.pool, scope, params.id),
  }),
  route({
    method: 'PUT',
    path: '/webhooks/endpoints/{id}',
    summary: 'Update an endpoint that receives notifications',
    permission: 'webhook:write',
    params: IdParams,
    body: UpdateWebhookEndpointBody,
    status: 200,
    answer: WebhookEndpoint,
    handler: (call) =>
      call.deps.pool.begin((tx) => updateEndpoint(tx, call.deps, call, call.params.id, call.body)),
  }),
  route({
    method: 'DELETE',
    path: '/webhooks/endpoints/{id}',
    summary: 'Delete an endpoint that receives notifications',
    permission: 'webhook:write',
    params: IdParams,
    status: 200,
    answer: Message,
    handler: (call) =>
      call.deps.pool.begin(async (tx) => {
        await deleteEndpoint(tx, call.deps, call, call.params.id);
        return { message: 'The endpoint was deleted' };
      }),
  }),
  route({
    method: 'POST',
    path: '/webhooks/endpoints/{id}/rotate',
    summary: 'Create a new secret; the previous one also signs for 24 hours',
    permission: 'webhook:write',
    secretAnswer: true,
    params: IdParams,
    status: 200,
    answer: WebhookEndpointWithSecret,
    handler: (call) =>
      call.deps.pool.begin((tx) => rotateSecret(tx, call.deps, call, call.params.id)),
  }),
  route({
    method: 'POST',
    path: '/webhooks/endpoints/{id}/test',
    summary: 'Send a test notification to an endpoint and show its answer',
    permission: 'webhook:write',
    ownsTransactions: true,
    params: IdParams,
    body: TestWebhookBody,
    status: 200,
    answer: WebhookAttempt,
    handler: (call) =>
      sendTest(call.deps, call, call.params.id, call.body?.event_type ?? 'customer.updated'),
  }),
  route({
    method: 'GET',
    path: '/webhooks/endpoints/{id}/attempts',
    summary: 'List the attempts of an endpoint with requests and answers',
    permission: 'webhook:read',
    params: IdParams,
    query: WebhookAttemptSearch.query,
    status: 200,
    answer: pageOf(WebhookAttempt),
    handler: ({ deps, scope, params, query }) => searchAttempts(deps.pool, scope, params.id, query),
  }),
  route({
    method: 'POST',
    path: '/webhooks/replay',
    summary:
      'Send the notifications of a time range, or a single notification, to an endpoint again',
    permission: 'webhook:write',
    body: ReplayWebhooksBody,
    status: 202,
    answer: ReplayedWebhooks,
    handler: (call) =>
      call.deps.pool.begin(async (tx) => {
        await getEndpoint(tx, call.scope, call.body.endpoint_id);
        const at = isoTime(call.deps.clock.now());
        const count = await replayNotifications(tx, call.scope, call.body, at, REPLAY_MAX);
        const { system_event_id } = call.body;
        if (count === 0 && system_event_id != null)
          throw invalidOperation(
            `${system_event_id} cannot be sent to this endpoint again: it is unknown or a test, it is older than ${PAYLOAD_DAYS} days, or the endpoint is not subscribed to its type.`,
            'system_event_id',
          );
        return { message: `${count} notifications will be sent again`, count };
      }),
  }),
];
