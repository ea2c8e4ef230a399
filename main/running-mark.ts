import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Clocks are set, and the uptime of a machine is rounded: boots this close together are one. */
const SAME_BOOT_MS = 60_000;

/**
 * A file that stands in the data directory while the engines run. When a start finds one from before
 * the machine's last boot, the machine went down under them, and what ClickHouse had not forced to disk
 * may be gone: the log has to be replayed (metering 3). A killed process alone loses nothing, because
 * the operating system keeps what was written.
 */
export class RunningMark {
  readonly #file: string;

  constructor(dataDirectory: string) {
    this.#file = join(dataDirectory, 'running');
  }

  /** Sets the mark, and answers whether the machine went down while an earlier one stood. `bootedAt`: epoch milliseconds. */
  begin(bootedAt: number): boolean {
    const earlier = existsSync(this.#file) ? Number(readFileSync(this.#file, 'utf8')) : null;
    writeFileSync(this.#file, String(Math.round(bootedAt)));
    return earlier !== null && bootedAt - earlier > SAME_BOOT_MS;
  }

  /** All processes have ended in order. */
  end(): void {
    rmSync(this.#file, { force: true });
  }
}
