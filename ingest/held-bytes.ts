import { BillingError } from '../domain/errors.ts';

/**
 * Limits the bytes of requests in progress. A body costs several times its size until it is answered, so
 * without this limit a slow log would fill the memory. A request beyond the limit is refused at once and may
 * be sent again.
 */
export class HeldBytes {
  readonly #max: number;
  #held = 0;

  constructor(max: number) {
    this.#max = max;
  }

  /** The bytes of one request: `hold` adds to them, `release` returns all of them. */
  forRequest(): { hold(bytes: number): void; release(): void } {
    let own = 0;
    return {
      hold: (bytes) => {
        if (this.#held > 0 && this.#held + bytes > this.#max)
          throw new BillingError(
            'unavailable',
            'ingest_busy',
            'The service receives too many events. Send these again shortly, with the same event ids.',
          );
        this.#held += bytes;
        own += bytes;
      },
      release: () => {
        this.#held -= own;
        own = 0;
      },
    };
  }
}
