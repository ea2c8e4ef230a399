import { collectDefaultMetrics, Counter, Histogram, Registry } from 'prom-client';

/** One answered request, as the metrics record it. */
export interface AnswerFacts {
  readonly method: string;
  readonly route: string;
  readonly status: number;
  readonly seconds: number;
}

/** A registry for one process, including the default process metrics. */
export function createMetrics(role: string): Registry {
  const registry = new Registry();
  registry.setDefaultLabels({ role });
  collectDefaultMetrics({ register: registry });
  return registry;
}

/** Durations of requests by route and status. Pass the result to `createServer` as `onAnswer`. */
export function httpMetrics(registry: Registry): (answer: AnswerFacts) => void {
  const duration = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Time from the first byte of a request to its answer.',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers: [registry],
  });
  return ({ method, route, status, seconds }) =>
    duration.observe({ method, route, status: String(status) }, seconds);
}

/** Counts answered requests that the request log did not store. */
export function countUnlogged(registry: Registry): (count: number) => void {
  const dropped = new Counter({
    name: 'request_log_dropped_total',
    help: 'Answered requests that were not stored in the request log.',
    registers: [registry],
  });
  return (count) => dropped.inc(count);
}

/**
 * Results of jobs: each figure of their reports, and `error` for a run that failed as a whole. Pass the
 * result to the scheduler as `onReport`.
 */
export function jobMetrics(
  registry: Registry,
): (job: string, report: Readonly<Record<string, number>> | null) => void {
  const outcomes = new Counter({
    name: 'job_outcomes_total',
    help: 'Records that a job advanced, finalized, left waiting or failed, by job and outcome.',
    labelNames: ['job', 'outcome'],
    registers: [registry],
  });
  return (job, report) => {
    if (report === null) outcomes.inc({ job, outcome: 'error' });
    for (const [outcome, count] of Object.entries(report ?? {}))
      outcomes.inc({ job, outcome }, count);
  };
}
