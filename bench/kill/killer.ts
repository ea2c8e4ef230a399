import type { Random } from '../random.ts';

/** Kills one process of the tree, chosen at random, and remembers what it did. */
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

  /** SIGKILL, without warning, to a random process that is up. */
  killOne(): string {
    this.countFailpoints();
    const [name, pid] = this.#random.pick(Object.entries(this.#pids()));
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      return name; // it was down already and is being started again
    }
    this.#killed.add(pid);
    this.#count(name);
    return name;
  }

  /** A process that has another id than before, and that we did not kill, killed itself at a failpoint. */
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
