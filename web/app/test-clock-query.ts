import { queryOptions } from '@tanstack/react-query';
import { answerOf, api } from '../client/api.ts';

/** The query of one test clock by its id; pages that need the same clock share its answer. */
export const testClockQuery = (id: string) =>
  queryOptions({
    queryKey: ['test-clocks', id],
    queryFn: ({ signal }) =>
      answerOf(api.GET('/test-clocks/{id}', { params: { path: { id } }, signal })),
  });
