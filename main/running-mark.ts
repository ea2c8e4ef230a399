import { closeSync, fsyncSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';

/**
 * A file in the data directory while the engines run, with the id of the machine's boot. If a start finds one
 * of another boot, the machine went down while the engines ran. Then data that ClickHouse had not forced to
 * disk may be lost, and the log has to be replayed (metering 3). A killed process alone loses nothing,
 * because the operating system keeps what was written. Boots are compared by id, never by time: clocks can be
 * changed, and a machine may be up again within a minute.
 */
export class RunningMark {
  readonly #file: string;

  constructor(dataDirectory: string) {
    this.#file = join(dataDirectory, 'running');
  }

  /** Whether an earlier mark belongs to another boot. An unknown boot (empty) counts as another one. */
  isOfAnotherBoot(bootId: string): boolean {
    const earlier = this.#read();
    return earlier !== null && (bootId === '' || earlier !== bootId);
  }

  /** Sets the mark. Call it after the replay that an earlier mark requires has been committed. */
  set(bootId: string): void {
    const file = openSync(this.#file, 'w');
    writeSync(file, bootId);
    fsyncSync(file);
    closeSync(file);
    // So that the name, too, survives the power loss that the mark detects.
    const directory = openSync(dirname(this.#file), 'r');
    fsyncSync(directory);
    closeSync(directory);
  }

  /** Removes the mark after all processes have ended in order. */
  end(): void {
    rmSync(this.#file, { force: true });
  }

  #read(): string | null {
    try {
      return readFileSync(this.#file, 'utf8');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
      throw error;
    }
  }
}
