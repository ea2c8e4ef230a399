/** Small seeded generator: a failing case is repeated by its seed alone. */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** In [0, 1). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let t = this.#state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  }

  /** From 0 to n - 1. */
  below(n: number): number {
    return Math.floor(this.next() * n);
  }

  pick<T>(list: readonly T[]): T {
    return list[this.below(list.length)]!;
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  some<T>(list: readonly T[], probability: number): T[] {
    return list.filter(() => this.chance(probability));
  }
}
