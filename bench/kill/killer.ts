import type { Random } from '../random.ts';

/** Kills random processes of the tree and records each kill. */
export class Killer {
  readonly kills: Record<string, number> = {};
  readonly #pids: () => Record<string, number>;
  readonly #random: Random;
  readonly #killed = new Set<number>();
  #last: Record<string, number>;

  constructor(pids: () => Record<string, number>, random: Random) {
    this.#pids = pids;
    this.#random = random;
    this.#last = pids();
  }

  get total(): number {
    return Object.values(this.kills).reduce((sum, count) => sum + count, 0);
  }

  /** Sends SIGKILL, without warning, to a random running process. */
  killOne(): string {
    this.countFailpoints();
    const [name, pid] = this.#random.pick(Object.entries(this.#pids()));
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      return name; // already down and being restarted
    }
    this.#killed.add(pid);
    this.#count(name);
    return name;
  }

  /** A process whose id changed without a kill of ours has killed itself at a failpoint. */
  countFailpoints(): void {
    const now = this.#pids();
    for (const [name, pid] of Object.entries(now)) {
      const before = this.#last[name];
      if (before === undefined || before === pid || this.#killed.has(before)) continue;
      this.#count(`${name} at a failpoint`);
    }
    this.#last = now;
  }

  #count(name: string): void {
    this.kills[name] = (this.kills[name] ?? 0) + 1;
  }
}
