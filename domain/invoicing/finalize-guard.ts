import { BillingError } from '../errors.ts';
import { epochMs } from '../time/instant.ts';

/** Seconds until a repeat is worth it while the stream is behind the log. */
const STREAM_RETRY_SECONDS = 5;

/**
 * Refuses to finalize an invoice with usage while its period runs: usage that comes later would never be
 * billed (billing 17.4). 409 with the instant from which it can be finalized.
 */
export function assertPeriodOver(periodEnd: string | null, at: string): void {
  if (periodEnd === null || periodEnd <= at) return;
  const seconds = Math.ceil((epochMs(periodEnd) - epochMs(at)) / 1000);
  throw notDue(
    `The invoice has usage and its period ends at ${periodEnd}; it can be finalized from then on. ` +
      'To bill earlier, cancel the subscription.',
    'period_end',
    seconds,
  );
}

/** 409: accepted events are not counted yet. */
export const streamBehind = (at: string): BillingError =>
  notDue(
    `Events accepted before ${at} are still being counted; the invoice can be finalized when they are.`,
    'usage_snapshot',
    STREAM_RETRY_SECONDS,
  );

const notDue = (message: string, path: string, retryAfterSeconds: number): BillingError =>
  new BillingError(
    'conflict',
    'not_due',
    message,
    [{ path, code: 'not_due', message }],
    1,
    retryAfterSeconds,
  );
