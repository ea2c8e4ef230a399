import { setTimeout as sleep } from 'node:timers/promises';
import type { BillingDeps } from '../api/deps.ts';
import { finalizeInvoices } from '../api/billing/invoices/finalize-invoices.ts';
import {
  finalizeTimes,
  invoicesToFinalize,
  noteStreamHeads,
  scopesWithInvoicesToFinalize,
  type FinalizeCursor,
} from '../api/billing/records/due-invoice-repository.ts';
import { storeWatermarks } from '../api/billing/computing/stored-watermarks.ts';
import { hasPassed } from '../domain/metering/log-heads.ts';
import type { WatermarkVector } from '../domain/metering/position.ts';
import type { Scope } from '../postgres/client.ts';
import { readWatermarks } from '../postgres/tables/watermarks.ts';
import type { InvoiceRecord } from '../schemas/invoice.ts';
import { billingRunOf } from './billing-run.ts';
import type { Job, JobRun } from './job.ts';
import { takeTurns, type Turn } from './scope-turns.ts';

export interface FinalizeDraftInvoicesDeps extends BillingDeps {
  /** Current heads of the event log: every accepted event lies below them (`headsVector`). */
  readLogHeads(): Promise<WatermarkVector>;
  /** How long a run waits for the stream to reach the heads. */
  readonly streamWaitMs?: number;
}

/** Invoices per usage read and transaction. */
const PAGE_INVOICES = 500;
const STREAM_WAIT_MS = 60_000;
const POLL_MS = 200;

/**
 * Finalizes drafts whose period and grace are over, after the stream has passed the heads that the log had at
 * that time (metering 5). So every usage event accepted in time is on the invoice. A draft that the stream
 * has not reached yet waits for the next run. A refused draft notifies its tenant and is left to a person,
 * because a retry cannot change the answer (billing 17.4). Environments take turns.
 */
export const finalizeDraftInvoices: Job<FinalizeDraftInvoicesDeps> = {
  name: 'finalize-draft-invoices',
  cron: '*/30 * * * *',
  ofCustomers: { dueTimes: finalizeTimes },
  async run(deps, run) {
    const totals = { finalized: 0, skipped: 0, waiting: 0, failed: 0 };
    const scopes = await scopesWithInvoicesToFinalize(deps.pool, run);
    if (scopes.length === 0) return totals;
    const heads = await deps.readLogHeads();
    const noted: Scope[] = [];
    await takeTurns(run, scopes, (scope) => async () => {
      await noteStreamHeads(deps.pool, scope, run, storeWatermarks(heads));
      noted.push(scope);
      return false;
    });
    await untilPassed(deps, heads, run.signal);
    await takeTurns(run, noted, (scope) => pages(deps, run, scope, totals));
    return totals;
  },
};

interface Totals {
  finalized: number;
  skipped: number;
  waiting: number;
  failed: number;
}

/** Resolves when the stream has passed the heads, or after the maximum wait of this run. */
async function untilPassed(
  deps: FinalizeDraftInvoicesDeps,
  heads: WatermarkVector,
  signal: AbortSignal,
): Promise<void> {
  const until = performance.now() + (deps.streamWaitMs ?? STREAM_WAIT_MS);
  while (!signal.aborted && performance.now() < until) {
    if (hasPassed(await readWatermarks(deps.pool), heads)) return;
    await sleep(POLL_MS);
  }
}

/** The drafts of one environment, page by page. */
function pages(deps: FinalizeDraftInvoicesDeps, run: JobRun, scope: Scope, totals: Totals): Turn {
  const billing = billingRunOf(run, scope);
  let after: FinalizeCursor | null = null;
  return async () => {
    const page: InvoiceRecord[] = await invoicesToFinalize(deps.pool, scope, {
      due: run,
      after,
      limit: PAGE_INVOICES,
    });
    const report = await finalizeInvoices(deps, billing, page);
    for (const { invoice_id, error } of report.failed)
      run.fail?.({ invoice_id, ...scope }, error, 'invoice not finalized');
    totals.finalized += report.finalized;
    totals.skipped += report.skipped;
    totals.waiting += report.waiting;
    totals.failed += report.failed.length;
    const last = page.at(-1);
    if (last !== undefined) after = { finalize_after: last.finalize_after!, id: last.id };
    return page.length === PAGE_INVOICES;
  };
}
