import { collectDefaultMetrics, Counter, Histogram, Registry } from 'prom-client';

/** One answered request, as metrics count it. */
export interface AnswerFacts {
  readonly method: string;
  readonly route: string;
  readonly status: number;
  readonly seconds: number;
}

/** A registry for one process, with the process's own figures in it. */
export function createMetrics(role: string): Registry {
  const registry = new Registry();
  registry.setDefaultLabels({ role });
  collectDefaultMetrics({ register: registry });
  return registry;
}

/** How long requests took, by route and status. Hand the answer to `createServer` as `onAnswer`. */
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

/**
 * What jobs came to: each figure of their reports, and `error` for a run that failed as a whole. Hand the
 * answer to the scheduler as `onReport`.
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
