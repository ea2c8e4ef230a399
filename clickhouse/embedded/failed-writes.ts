import { QueryFailed } from './errors.ts';
import type { SessionPool } from './sessions.ts';

const COUNTED = `
  select sum(value) from system.events where event = 'WriteBufferFromFileDescriptorWriteFailed'`;

/** CANNOT_WRITE_TO_FILE_DESCRIPTOR: to callers an outage, after which they repeat the insert. */
const CODE = 75;

/**
 * Writes to files that failed in this process. The engine as a library (chdb 3.4, ClickHouse 26.7) counts them and goes
 * on: on a full disk it acknowledges inserts and completes merges whose files are empty. A server of ClickHouse
 * refuses them.
 *
 * After a failed write nothing of this process can be trusted, and it must end. A new process finds the damaged parts
 * by the sizes of their files and sets them aside. In place of a damaged merge it loads the parts that were merged:
 * they are kept for 8 minutes.
 */
export class FailedWrites {
  readonly #session: SessionPool;
  /** What failed while the data directory was opened: nothing that was acknowledged. */
  readonly #before: number;

  private constructor(session: SessionPool, before: number) {
    this.#session = session;
    this.#before = before;
  }

  static async watch(session: SessionPool): Promise<FailedWrites> {
    return new FailedWrites(session, await countOf(session));
  }

  /** Throws a fatal `QueryFailed` if a write has failed. */
  async refuse(): Promise<void> {
    const failed = (await countOf(this.#session)) - this.#before;
    if (failed === 0) return;
    const message = `Code: ${CODE}. DB::Exception: ${failed} writes to files failed. Is the disk full? (CANNOT_WRITE_TO_FILE_DESCRIPTOR)`;
    throw new QueryFailed(CODE, message, { isFatal: true });
  }
}

async function countOf(session: SessionPool): Promise<number> {
  const result = await session.query({
    sql: COUNTED,
    format: 'TabSeparated',
    database: 'default',
    settings: NONE,
    params: NONE,
  });
  return Number(Buffer.from(result.bytes()).toString());
}

const NONE: ReadonlyMap<string, string> = new Map();
