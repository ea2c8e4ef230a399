import type { Hit } from './fault.ts';

/** Counts what happened: faults, and processes that ended by themselves (at a failpoint, or because of a fault). */
export class Tally {
  readonly counts: Record<string, number> = {};
  /** Seconds that the faults of each kind took, until they were over. */
  readonly seconds: Record<string, number> = {};
  faults = 0;
  readonly #pids: () => Readonly<Record<string, number>>;
  #last: Readonly<Record<string, number>>;
  readonly #ended = new Set<string>();

  constructor(pids: () => Readonly<Record<string, number>>) {
    this.#pids = pids;
    this.#last = pids();
  }

  struck(fault: string, { what, ended }: Hit, ms: number): void {
    this.faults += 1;
    this.seconds[fault] = (this.seconds[fault] ?? 0) + ms / 1000;
    this.#count(fault === what ? fault : `${fault} ${what}`);
    for (const name of ended) this.#ended.add(name);
  }

  /** Call often: a changed id means that the process has ended, by a fault or by itself. */
  look(): void {
    const now = this.#pids();
    for (const [name, pid] of Object.entries(now)) {
      if (this.#last[name] === undefined || this.#last[name] === pid) continue;
      if (!this.#ended.delete(name)) this.#count(`${name} by itself`);
    }
    this.#last = now;
  }

  #count(what: string): void {
    this.counts[what] = (this.counts[what] ?? 0) + 1;
  }
}
