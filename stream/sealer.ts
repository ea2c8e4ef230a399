import { setTimeout as sleep } from 'node:timers/promises';
import { failpoint } from '../platform/failpoint.ts';
import type { Logger } from '../platform/log.ts';
import type { Pool } from '../postgres/client.ts';
import { versionsInBackfill } from '../postgres/tables/meter-backfills.ts';
import { noteIdleProgress } from '../postgres/tables/stream-progress.ts';
import {
  endRebuild,
  packSeal,
  readRebuildRequest,
  readUsageBounds,
  recordSeal,
  releaseSealer,
  renewSealer,
  takeSealer,
  UsageUnderRepair,
  type SealerTurn,
  type UsageBounds,
} from '../postgres/tables/seals.ts';
import type { BucketKey, TouchedBucket } from '../clickhouse/rows.ts';
import type { UsageStore } from '../clickhouse/writing/usage-store.ts';
import type { EventLog } from '../platform/event-log/event-log.ts';
import { Backfill } from './backfill.ts';
import type { StreamMetrics } from './metrics.ts';
import { SealList } from './seal-list.ts';

export interface SealerDeps {
  readonly pool: Pool;
  readonly store: UsageStore;
  readonly eventLog: EventLog;
  readonly metrics: StreamMetrics;
  readonly log: Logger;
}

export interface SealerOptions {
  /** How often marks are listed. Sealing is not urgent: rows that are not sealed are read individually. */
  readonly cycleMs: number;
  readonly leaseSeconds: number;
}

const DEFAULTS: SealerOptions = { cycleMs: 5_000, leaseSeconds: 15 };

/** Bounds the time between two recorded seals. */
const BUCKETS_PER_CYCLE = 20_000;
/** At this many buckets on the list, the rest of a long listing waits: a rebuild has millions of them. */
const LIST_SIZE_MAX = 200_000;
/**
 * After this time a full listing continues anyway: the listed buckets may all be too recent to be computed.
 */
const LIST_WAIT_MS = 35_000;
/** A mark becomes visible some time after it was made. A mark that is seen too late costs only speed. */
const LIST_OVERLAP_MS = 60_000;
/** After a listing, the next one begins after this many times its duration: an import marks the same buckets again. */
const LISTING_PAUSES = 4;
/** How often to look for a version with a finished backfill. */
const BACKFILL_POLL_MS = 250;

/**
 * The only writer of usage buckets (metering 5, "Seals"). One process at a time has the turn, by a lease on
 * the Postgres clock. Each turn is a generation: a process that was paused past its lease cannot record
 * anything, and its buckets are ignored. A turn runs in cycles: list what was touched, read the watermarks,
 * compute what is due from the rows below them, record the seal. A failed cycle ends the turn, because its
 * seal number may be on buckets of an older vector and must not be used again.
 */
export class Sealer {
  readonly #deps: SealerDeps;
  readonly #options: SealerOptions;
  readonly #stopping = new AbortController();
  #running: Promise<void> = Promise.resolve();
  #hasTurn = false;
  #cycle: SealCycle | null = null;

  constructor(deps: SealerDeps, options: Partial<SealerOptions> = {}) {
    this.#deps = deps;
    this.#options = { ...DEFAULTS, ...options };
  }

  /** Whether this process has the turn. */
  get hasTurn(): boolean {
    return this.#hasTurn;
  }

  /**
   * Buckets on the list, including buckets that have not ended; null before the first listing of a turn has
   * ended.
   */
  get pendingBuckets(): number | null {
    return this.#cycle?.pendingBuckets ?? null;
  }

  start(): void {
    this.#running = this.#run();
  }

  /** Ends after the statement in flight; the next turn computes what was not recorded. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { pool, log } = this.#deps;
    const { cycleMs, leaseSeconds } = this.#options;
    while (!this.#stopping.signal.aborted) {
      const taken = await takeSealer(pool, leaseSeconds).catch((error: unknown) => {
        log.warn({ err: error }, 'sealer: no lease');
        return null;
      });
      if (taken !== null) await this.#turn(taken);
      await pause(cycleMs, this.#stopping.signal);
    }
  }

  async #turn(taken: SealerTurn): Promise<void> {
    const { pool, log } = this.#deps;
    const { leaseSeconds } = this.#options;
    const lost = new AbortController();
    const end = () => lost.abort();
    const over = AbortSignal.any([lost.signal, this.#stopping.signal]);
    const renewal = setInterval(
      () =>
        void renewSealer(pool, taken.generation, leaseSeconds).then(
          (ok) => ok || end(),
          () => {},
        ),
      (leaseSeconds * 1000) / 3,
    );
    this.#hasTurn = true;
    log.info({ generation: String(taken.generation) }, 'sealer: turn begins');
    try {
      // Both end together if either fails.
      const backfill = new Backfill({ ...this.#deps, generation: taken.generation });
      const loops = [this.#seal(taken, over), backfill.run(over)];
      const ended = await Promise.allSettled(loops.map((loop) => loop.finally(end)));
      for (const loop of ended)
        if (loop.status === 'rejected') log.warn({ err: loop.reason }, 'sealer: turn ends');
    } finally {
      this.#hasTurn = false;
      this.#cycle = null;
      clearInterval(renewal);
      await releaseSealer(pool, taken.generation).catch(() => {});
    }
  }

  async #seal(taken: SealerTurn, over: AbortSignal): Promise<void> {
    const { cycleMs } = this.#options;
    const cycle = (this.#cycle = new SealCycle(this.#deps, taken));
    let noteAt = 0;
    for (let listAt = 0; !over.aborted;) {
      const now = performance.now();
      if (now >= listAt || cycle.isListing) {
        await cycle.list();
        const listed = performance.now();
        listAt = listed + Math.max(cycleMs, LISTING_PAUSES * (listed - now));
      }
      const more = await cycle.run(over);
      // Both stores have answered.
      if (now >= noteAt) {
        await noteIdleProgress(this.#deps.pool);
        noteAt = now + NOTE_PROGRESS_MS;
      }
      // A backlog is worked off at half speed: an import is followed by readers, who need the engine.
      const rest = more ? performance.now() - now : BACKFILL_POLL_MS;
      await pause(Math.min(cycleMs, rest), over);
    }
  }
}

const NOTE_PROGRESS_MS = 10 * 60_000;

/** The state of one turn. */
class SealCycle {
  readonly #deps: SealerDeps;
  readonly #generation: bigint;
  readonly #list = new SealList();
  #lastNumber: bigint;
  /** All marks before this time are on the list or sealed; null: every bucket must be checked. */
  #listedSince: number | null;
  #now = 0;
  #hasListed = false;
  #listing: Listing | null = null;
  /** The rebuild whose buckets are on the list; it is done when none of them is left. */
  #rebuild: string | null = null;

  constructor(deps: SealerDeps, taken: SealerTurn) {
    this.#deps = deps;
    this.#generation = taken.generation;
    this.#lastNumber = taken.lastNumber;
    this.#listedSince = taken.listedSince;
  }

  /** Whether a listing has more pages. */
  get isListing(): boolean {
    return this.#listing !== null;
  }

  get pendingBuckets(): number | null {
    return this.#hasListed && !this.isListing ? this.#list.size : null;
  }

  /**
   * Adds the buckets that were marked since the last listing, as many as the list may hold. While
   * `isListing`, call it again after some have been computed.
   */
  async list(): Promise<void> {
    this.#listing ??= await this.#beginListing();
    const listing = this.#listing;
    if (listing === null) return;
    for (;;) {
      this.#now = await this.#deps.store.now();
      const isFull = this.#list.size >= LIST_SIZE_MAX;
      if (isFull && this.#now - listing.pageAt < LIST_WAIT_MS) return;
      const { done, value: touched } = await listing.pages.next();
      if (done === true) break;
      const vectors = await listing.bounds.vectorsOf(touched.flatMap(({ seal }) => seal ?? []));
      this.#list.note(touched, (seal) => vectors.get(seal), this.#now, listing.isForced);
      listing.pageAt = this.#now;
      this.#hasListed = true;
    }
    this.#listing = null;
    this.#listedSince = listing.beganAt - LIST_OVERLAP_MS;
    this.#hasListed = true;
    if (listing.rebuild === null) return;
    this.#rebuild = listing.rebuild;
    if (!this.#list.hasForced()) await endRebuild(this.#deps.pool, this.#generation, this.#rebuild);
  }

  /** Null during a repair of the rows. */
  async #beginListing(): Promise<Listing | null> {
    const { pool, store } = this.#deps;
    const rebuild = await readRebuildRequest(pool);
    this.#now = await store.now();
    const bounds = await readUsageBounds(pool, []).catch((error: unknown) => {
      if (!(error instanceof UsageUnderRepair)) throw error;
      return null;
    });
    if (bounds === null) {
      // Buckets may be lost too: compare all of them after the repair.
      this.#listedSince = null;
      return null;
    }
    const isForced = rebuild !== null && rebuild !== this.#rebuild;
    const since = isForced ? null : this.#listedSince;
    const pages = store.touchedBuckets({ since })[Symbol.asyncIterator]();
    return { pages, bounds, rebuild, isForced, beganAt: this.#now, pageAt: 0 };
  }

  /** Computes what is due under one seal. True if more work is due at once. */
  async run(over: AbortSignal): Promise<boolean> {
    const { pool, store, metrics } = this.#deps;
    if (!this.#hasListed) return false;
    // Read after the listing: the state of a version with marks on the list is visible by now.
    const backfills = await versionsInBackfill(pool);
    const fromScratch = backfills.filter((version) => version.backfill_state === 'sealing');
    const held = new Set(backfills.map((version) => version.id));
    const due = this.#list.due(this.#now, BUCKETS_PER_CYCLE, (bucket) =>
      held.has(bucket.meter_version_id),
    );
    if (due.length === 0 && fromScratch.length === 0) return false;

    const began = performance.now();
    const completed = fromScratch.map((version) => version.id);
    const versions = new Set([...due.map((bucket) => bucket.meter_version_id), ...completed]);
    const bounds = await readUsageBounds(pool, [...versions]);
    const seal = packSeal(this.#generation, this.#lastNumber + 1n);
    let bucketCount = 0;
    // Every row below the bounds has a visible mark, so a listing that begins now misses none of them.
    for await (const buckets of inParts(due, this.#bucketsOf(completed))) {
      const partBegan = performance.now();
      await store.recomputeBuckets(buckets, bounds, seal);
      this.#list.sealed(buckets, bounds.watermarks);
      bucketCount += buckets.length;
      // A version's whole past is long work: pause for as long, so that live events get the engine.
      if (completed.length > 0) await pause(performance.now() - partBegan, over);
      if (over.aborted) return false;
    }
    failpoint('sealer.after_recompute');

    const oldest = this.#list.oldest();
    const recorded = await recordSeal(pool, {
      seal,
      watermarks: bounds.watermarks,
      listedSince:
        oldest === null || this.#listedSince === null
          ? this.#listedSince
          : Math.min(this.#listedSince, oldest - LIST_OVERLAP_MS),
      completedVersions: completed,
    });
    if (!recorded) throw new Error(`Generation ${this.#generation} of the sealer is over.`);
    failpoint('sealer.after_record');
    this.#lastNumber++;
    metrics.sealed(bucketCount, (performance.now() - began) / 1000);
    return due.length === BUCKETS_PER_CYCLE;
  }

  async *#bucketsOf(versionIds: readonly string[]): AsyncGenerator<BucketKey[]> {
    if (versionIds.length === 0) return;
    yield* this.#deps.store.touchedBuckets({ since: null, meter_version_ids: versionIds });
  }
}

/** A listing in progress, which may take longer than one cycle. */
interface Listing {
  readonly pages: AsyncIterator<TouchedBucket[]>;
  readonly bounds: UsageBounds;
  readonly rebuild: string | null;
  /** Compute the buckets regardless of their seals. */
  readonly isForced: boolean;
  /** On ClickHouse's clock. */
  readonly beganAt: number;
  /** When its last page was read. */
  pageAt: number;
}

async function* inParts(
  first: readonly BucketKey[],
  more: AsyncIterable<BucketKey[]>,
): AsyncGenerator<readonly BucketKey[]> {
  if (first.length > 0) yield first;
  yield* more;
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => {});
}
