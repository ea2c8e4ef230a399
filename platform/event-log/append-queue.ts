import { EpochClosed, logUnavailable, type LogAppend } from './event-log.ts';

/** One call of `append`, queued or in flight. */
interface Append {
  readonly epoch: number;
  readonly records: readonly LogAppend[];
  readonly bytes: number;
  readonly deadline: number;
  resolve(): void;
  reject(error: unknown): void;
}

export interface AppendQueueOptions {
  /**
   * Makes the records durable; acknowledges all or none. `signal` aborts when their deadline has passed: the
   * callers have been refused by then, and the write should end soon with either result.
   */
  write(epoch: number, records: readonly LogAppend[], signal: AbortSignal): Promise<void>;
  /** Writes that run in parallel. While all are busy, calls gather and share the next write. */
  readonly maxWrites: number;
  /** A write takes calls until it has this many bytes. */
  readonly maxWriteBytes: number;
  /** Bytes of all calls without an answer; a call beyond is refused at once. */
  readonly maxPendingBytes: number;
  /** A call is answered within this time or refused. */
  readonly deadlineMs: number;
}

/**
 * Group commit. A call that finds a free write starts it; all calls that arrive while the writes are busy go
 * together into the next one. So a quiet log answers at once, a busy log pays one commit for many callers,
 * and no timer is needed. Memory and time are bounded: a call that does not fit or is not durable in time is
 * refused with `event_log_unavailable`.
 */
export class AppendQueue {
  readonly #options: AppendQueueOptions;
  #waiting: Append[] = [];
  #pendingBytes = 0;
  #writes = 0;
  #expiry: NodeJS.Timeout | undefined;
  #closed = false;
  #idle: (() => void) | undefined;

  constructor(options: AppendQueueOptions) {
    this.#options = options;
  }

  append(epoch: number, records: readonly LogAppend[]): Promise<void> {
    if (records.length === 0) return Promise.resolve();
    let bytes = 0;
    for (const record of records) {
      if (record.epoch !== undefined && record.epoch !== epoch)
        return Promise.reject(new EpochClosed(record.epoch));
      bytes += record.value.length;
    }
    if (this.#closed) return Promise.reject(logUnavailable('it is being closed'));
    if (this.#pendingBytes > 0 && this.#pendingBytes + bytes > this.#options.maxPendingBytes)
      return Promise.reject(logUnavailable('too many events are waiting for it'));
    return new Promise((resolve, reject) => {
      this.#pendingBytes += bytes;
      const deadline = performance.now() + this.#options.deadlineMs;
      this.#waiting.push({ epoch, records, bytes, deadline, resolve, reject });
      this.#startWrites();
      this.#armExpiry();
    });
  }

  /** Refuses new calls; resolves when the waiting calls have their answers. */
  async close(): Promise<void> {
    this.#closed = true;
    if (this.#writes > 0 || this.#waiting.length > 0)
      await new Promise<void>((resolve) => (this.#idle = resolve));
    clearTimeout(this.#expiry);
  }

  #startWrites(): void {
    while (this.#waiting.length > 0 && this.#writes < this.#options.maxWrites)
      void this.#write(this.#takeGroup());
    if (this.#waiting.length === 0 && this.#writes === 0) this.#idle?.();
  }

  #takeGroup(): Append[] {
    const epoch = this.#waiting[0]!.epoch;
    let bytes = 0;
    let count = 0;
    for (const append of this.#waiting) {
      if (append.epoch !== epoch) break;
      if (count > 0 && bytes + append.bytes > this.#options.maxWriteBytes) break;
      bytes += append.bytes;
      count++;
    }
    return this.#waiting.splice(0, count);
  }

  async #write(group: Append[]): Promise<void> {
    this.#writes++;
    const timeUp = new AbortController();
    // The first call of the group has waited longest. Its deadline is the deadline of the write, because one
    // write has one answer.
    const timer = setTimeout(() => {
      const refusal = logUnavailable(`it did not answer in ${this.#options.deadlineMs} ms`);
      for (const append of group) append.reject(refusal);
      timeUp.abort(refusal);
    }, group[0]!.deadline - performance.now());
    try {
      const records =
        group.length === 1 ? group[0]!.records : group.flatMap((append) => append.records);
      await this.#options.write(group[0]!.epoch, records, timeUp.signal);
      for (const append of group) append.resolve();
    } catch (error) {
      for (const append of group) append.reject(error);
    } finally {
      clearTimeout(timer);
      for (const append of group) this.#pendingBytes -= append.bytes;
      this.#writes--;
      this.#startWrites();
    }
  }

  /** Refuses calls that no write took in time. They are ordered by deadline. */
  #armExpiry(): void {
    if (this.#expiry !== undefined || this.#waiting.length === 0) return;
    this.#expiry = setTimeout(
      () => {
        this.#expiry = undefined;
        const now = performance.now();
        const late = this.#waiting.findIndex((append) => append.deadline > now);
        const refusal = logUnavailable(`it did not answer in ${this.#options.deadlineMs} ms`);
        for (const append of this.#waiting.splice(0, late < 0 ? this.#waiting.length : late)) {
          this.#pendingBytes -= append.bytes;
          append.reject(refusal);
        }
        this.#armExpiry();
        this.#startWrites();
      },
      Math.max(1, this.#waiting[0]!.deadline - performance.now()),
    );
    this.#expiry.unref();
  }
}
