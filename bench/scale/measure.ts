/** Durations of calls, in milliseconds. */
export interface Timings {
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
  readonly runs: number;
}

/** The first call is not measured: it includes one-time loading. */
export async function timed(
  runs: number,
  secondsMax: number,
  run: (n: number) => Promise<unknown>,
): Promise<Timings> {
  await run(0);
  const times: number[] = [];
  const until = performance.now() + secondsMax * 1000;
  for (let n = 1; n <= runs && (n <= RUNS_MIN || performance.now() < until); n += 1)
    times.push(await timeOf(() => run(n)));
  return percentiles(times);
}

/** Repeats `probe`, with pauses, until `work` ends. */
export async function probedDuring(
  work: Promise<unknown>,
  probe: () => Promise<unknown>,
): Promise<Timings> {
  let isOver = false;
  const over = work.finally(() => (isOver = true));
  over.catch(() => {});
  const times: number[] = [];
  while (!isOver) {
    times.push(await timeOf(probe));
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  await over;
  return percentiles(times);
}

export async function timeOf(run: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await run();
  return performance.now() - began;
}

const RUNS_MIN = 5;

function percentiles(times: number[]): Timings {
  times.sort((a, b) => a - b);
  const at = (share: number) =>
    times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0;
  return { p50: at(0.5), p95: at(0.95), p99: at(0.99), runs: times.length };
}
