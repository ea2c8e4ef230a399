import { IdParams, Message } from '../../../schemas/primitives.ts';
import { pageOf } from '../../../schemas/search.ts';
import {
  AdvanceTestClockBody,
  CreateTestClockBody,
  TestClock,
  TestClockSearch,
} from '../../../schemas/test-clock.ts';
import { newRecord } from '../../conventions/record.ts';
import { route } from '../../conventions/route.ts';
import {
  assertNotInProduction,
  getTestClock,
  insertTestClock,
  searchTestClocks,
} from '../../customers/test-clocks/repository.ts';
import { advanceTestClock } from './advance-test-clock.ts';
import { deleteTestClock } from './delete-test-clock.ts';

export const testClockRoutes = [
  route({
    method: 'POST',
    path: '/test-clocks',
    summary: 'Create a test clock, which owns customers and moves only when it is advanced',
    permission: 'testclock:write',
    body: CreateTestClockBody,
    status: 201,
    answer: TestClock,
    async handler({ deps, body, scope, ...call }) {
      await assertNotInProduction(deps.pool, scope);
      return await deps.pool.begin((tx) =>
        insertTestClock(tx, {
          ...newRecord(deps, { scope, user_id: call.user_id }, 'clock'),
          name: body.name ?? null,
          now: body.now,
          status: 'ready',
          advancing_to: null,
          error: null,
        }),
      );
    },
  }),
  route({
    method: 'POST',
    path: '/test-clocks/search',
    summary: 'Search test clocks',
    permission: 'testclock:read',
    body: TestClockSearch.body,
    status: 200,
    answer: pageOf(TestClock),
    handler: ({ deps, scope, body }) => searchTestClocks(deps.pool, scope, body),
  }),
  route({
    method: 'GET',
    path: '/test-clocks/{id}',
    summary: 'Get a test clock',
    permission: 'testclock:read',
    params: IdParams,
    status: 200,
    answer: TestClock,
    handler: ({ deps, scope, params }) => getTestClock(deps.pool, scope, params.id),
  }),
  route({
    method: 'POST',
    path: '/test-clocks/{id}/advance',
    summary: 'Advance a test clock: everything due up to a time happens, in order and at its time',
    permission: 'testclock:write',
    params: IdParams,
    body: AdvanceTestClockBody,
    status: 202,
    answer: TestClock,
    handler: (call) => advanceTestClock(call.deps, call, call.params.id, call.body.to),
  }),
  route({
    method: 'DELETE',
    path: '/test-clocks/{id}',
    summary: 'Delete a test clock: archives its customers and cancels their subscriptions',
    permission: 'testclock:write',
    params: IdParams,
    status: 200,
    answer: Message,
    async handler(call) {
      await deleteTestClock(call.deps, call, call.params.id);
      return { message: 'test clock deleted' };
    },
  }),
];
