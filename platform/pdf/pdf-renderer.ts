import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Tinypool } from 'tinypool';
import { BillingError } from '../../domain/errors.ts';
import { PAGES_MAX } from './page-flow.ts';
import type { PrintedDocument } from './printed-document.ts';

/** Prints documents in process: no browser, no second service. */
export interface PdfRenderer {
  /**
   * The document as a PDF file; the same document gives the same bytes. 413 `document_too_long` if it exceeds
   * the limit of pages, time or memory; 503 `busy` if too many documents wait.
   */
  render(document: PrintedDocument): Promise<Uint8Array>;
  close(): Promise<void>;
}

/** A document of 10,000 rows with their explanations takes about a quarter of each. */
const SECONDS_MAX = 60;
const HEAP_MB_MAX = 1024;
const WAITING_MAX = 100;
const RETRY_SECONDS = 5;
const TOO_LONG = `The document is too long: printing it takes more than ${SECONDS_MAX} s, ${PAGES_MAX} pages or ${HEAP_MB_MAX} MB. Leave out the annex.`;

/**
 * One thread, started with the first document. `execArgv` replaces the Node options of the thread, for example
 * to load TypeScript sources.
 */
export function createPdfRenderer(
  options: { readonly execArgv?: readonly string[] } = {},
): PdfRenderer {
  let pool: Tinypool | undefined;
  return {
    async render(document) {
      pool ??= new Tinypool({
        filename: fileURLToPath(
          new URL(`./render-worker${extname(import.meta.url)}`, import.meta.url),
        ),
        runtime: 'worker_threads',
        minThreads: 1,
        maxThreads: 1,
        maxQueue: WAITING_MAX,
        resourceLimits: { maxOldGenerationSizeMb: HEAP_MB_MAX },
        ...(options.execArgv === undefined ? {} : { execArgv: [...options.execArgv] }),
      });
      try {
        const signal = AbortSignal.timeout(SECONDS_MAX * 1000);
        const bytes = (await pool.run(document, { signal })) as Uint8Array | null;
        if (bytes !== null) return bytes;
      } catch (error) {
        throw refusalOf(error);
      }
      throw tooLong();
    },
    async close() {
      await pool?.destroy();
    },
  };
}

function refusalOf(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  if (error.message === 'Task queue is at limit')
    return new BillingError(
      'unavailable',
      'busy',
      `${WAITING_MAX} documents are waiting to be printed. Try again in a moment.`,
      [],
      0,
      RETRY_SECONDS,
    );
  const isTooLong =
    error.name === 'AbortError' ||
    (error as NodeJS.ErrnoException).code === 'ERR_WORKER_OUT_OF_MEMORY';
  return isTooLong ? tooLong() : error;
}

const tooLong = (): BillingError => new BillingError('too_large', 'document_too_long', TOO_LONG);
