import type { ApiDeps } from './deps.ts';

/** Readers of usage and events for a request that only reads; they stop once its caller has gone. */
export const readersUntil = (deps: ApiDeps, gone: AbortSignal): ApiDeps => ({
  ...deps,
  eventReader: deps.eventReader.until(gone),
  usageReader: {
    read: (queries, bound) => deps.usageReader.read(queries, bound, gone),
  },
});
