import { setTimeout as sleep } from 'node:timers/promises';
import { Edits } from './edits.ts';
import { Imports } from './imports.ts';
import { Replays } from './replays.ts';
import { Resizes } from './resizes.ts';
import { Voids } from './voids.ts';
import type { Work, WorkWorld } from './work.ts';

export interface RunningWork {
  readonly edits: Edits;
  /** Called after each fault with the number of faults: most work is done at moments of the run. */
  reached(faults: number, ofAll: number): void;
  /** Resolves when no work of this name is in progress. */
  ended(name: string): Promise<void>;
  /** Names of the work in progress, to report what a run waits for. */
  underWay(): string[];
  /** Ends what was begun; answers how often each work was done. */
  stop(): Promise<string>;
}

/** Pauses between two of a kind. */
const EVERY_MS: Readonly<Record<string, readonly [number, number]>> = {
  voids: [500, 2_000],
};
/**
 * Faults from one to the next, the first one after half of them. Counted in faults, because each adds rows and
 * meter versions to everything that follows: on a slow machine a pause in seconds makes the end of a run slower
 * than the faults.
 */
const EVERY_FAULTS: Readonly<Record<string, number>> = { edits: 6, imports: 4 };
/** Shares of the run at which the others are done. */
const AT: Readonly<Record<string, readonly number[]>> = {
  resizes: [0.2, 0.6],
  replays: [0.4, 0.8],
};

/**
 * Starts the named kinds of work. The edited meter exists in every run. All resizes begin before the
 * share `resizesUntil` of the run: a resize is refused when a broker is lost for good.
 */
export async function startWork(
  names: readonly string[],
  world: WorkWorld,
  resizesUntil = 1,
): Promise<RunningWork> {
  const edits = new Edits(world);
  const all: readonly Work[] = [
    new Voids(world),
    edits,
    new Imports(world),
    new Resizes(world),
    new Replays(world),
  ];
  const unknown = names.filter((name) => !all.some((work) => work.name === name));
  if (unknown.length > 0)
    throw new Error(
      `There is no work ${unknown.join(', ')}. There are: ${all.map(({ name }) => name).join(', ')}`,
    );
  const chosen = all.filter(({ name }) => names.includes(name));
  await edits.createMeter();

  let running = true;
  let failure: unknown = null;
  const under = new Map<Promise<void>, string>();
  const start = (name: string, task: Promise<void>): void => {
    const ended = task
      .catch((error: unknown) => void (failure ??= error))
      .finally(() => under.delete(ended));
    under.set(ended, name);
  };
  const again = async (work: Work, [least, most]: readonly [number, number]): Promise<void> => {
    const until = () => performance.now() + world.random.integer(least, most);
    for (let due = until(); running; due = until()) {
      while (running && performance.now() < due) await sleep(100);
      if (running) await work.once();
    }
  };
  for (const work of chosen) {
    const every = EVERY_MS[work.name];
    if (every !== undefined) start(work.name, again(work, every));
  }
  const begin = (work: Work): void => start(work.name, work.once());
  const moments = chosen.flatMap((work) =>
    (AT[work.name] ?? []).map((share) => ({
      work,
      share: work.name === 'resizes' ? share * resizesUntil : share,
    })),
  );
  return {
    edits,
    reached(faults, ofAll) {
      for (const moment of moments.splice(0)) {
        if (moment.share <= faults / ofAll) begin(moment.work);
        else moments.push(moment);
      }
      for (const work of chosen) {
        const every = EVERY_FAULTS[work.name];
        if (every !== undefined && faults % every === every / 2) begin(work);
      }
    },
    async ended(name) {
      await Promise.all([...under].flatMap(([task, of]) => (of === name ? [task] : [])));
    },
    underWay: () => [...new Set(under.values())].sort(),
    async stop() {
      running = false;
      await Promise.all(under.keys());
      if (failure !== null) throw failure;
      for (const work of chosen) start(work.name, work.finish());
      await Promise.all(under.keys());
      if (failure !== null) throw failure;
      return chosen.map(({ name, done }) => `${name}=${done}`).join(' ');
    },
  };
}
