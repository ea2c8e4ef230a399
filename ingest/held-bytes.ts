import { BillingError } from '../domain/errors.ts';

/**
 * How many bytes of requests the process works on at a time. A body costs several times its size until
 * it is answered, so without this bound a slow log would fill the memory. Who comes when it is
 * reached is refused at once and can come again.
 */
export class HeldBytes {
  readonly #max: number;
  #held = 0;

  constructor(max: number) {
    this.#max = max;
  }

  /** What one request holds: `hold` adds to it, `release` gives all of it back. */
  forRequest(): { hold(bytes: number): void; release(): void } {
    let own = 0;
    return {
      hold: (bytes) => {
        if (this.#held > 0 && this.#held + bytes > this.#max)
          throw new BillingError(
            'unavailable',
            'ingest_busy',
            'Too many events are being taken in. Send these again shortly, with the same event ids.',
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
