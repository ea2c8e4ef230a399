/** Where the time of a run goes, by stage. */
export class Stages {
  readonly #ms = new Map<string, number>();

  async time<Result>(stage: string, work: () => Promise<Result>): Promise<Result> {
    const startedAt = performance.now();
    try {
      return await work();
    } finally {
      this.#ms.set(stage, (this.#ms.get(stage) ?? 0) + performance.now() - startedAt);
    }
  }

  /** `start=12.0s faults=40.1s …`, in the order in which the stages began. */
  toString(): string {
    return [...this.#ms].map(([stage, ms]) => `${stage}=${(ms / 1000).toFixed(1)}s`).join(' ');
  }
}
