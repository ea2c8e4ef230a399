import { setTimeout as sleep } from 'node:timers/promises';
import {
  advancingClocks,
  dueWork,
  endAdvance,
  moveClock,
  noteStreamPassed,
  type AdvancingClock,
  type DueWork,
} from '../api/billing/test-clocks/advance-repository.ts';
import { readStoredWatermarks } from '../api/billing/computing/stored-watermarks.ts';
import type { BillingDeps } from '../api/deps.ts';
import { isOutage } from '../api/outage.ts';
import { BillingError } from '../domain/errors.ts';
import { hasPassed } from '../domain/metering/log-heads.ts';
import { isoTime } from '../platform/clock.ts';
import { failpoint } from '../platform/failpoint.ts';
import { isPostgresRace } from '../postgres/outage.ts';
import { scopedPool } from '../postgres/scoped-pool.ts';
import { holdJobLease, JobLeaseLost } from '../postgres/tables/job-leases.ts';
import { readWatermarks } from '../postgres/tables/watermarks.ts';
import type { Job, JobReport, JobRun, OfCustomers } from './job.ts';

/** Wait before the stream's progress is read again. */
const POLL_MS = 100;
/** A job that leaves the same work due is not repeated; this bounds jobs that make work for each other. */
const PASSES_MAX = 50;

/** `again`: the clock has further instants. `wait`: it waits for the stream. `done`: its advance has ended. */
type Turn = 'again' | 'wait' | 'done';

/**
 * Moves test clocks that are being advanced from one due instant to the next (billing 22.1). At each instant the jobs
 * of `scheduled` that work on customers run for the customers of the clock, in their usual order, at the clock's
 * time, until none leaves anything due. Every step is stored before the next, so an advance that is interrupted
 * continues where it was, and the jobs repeat nothing. A record that cannot be processed stops the clock at that
 * instant. Clocks take turns, an instant each.
 */
export const advanceTestClocks = <Deps extends BillingDeps>(
  scheduled: readonly Job<Deps>[],
): Job<Deps> => ({
  name: 'advance-test-clocks',
  cron: '* * * * * *',
  async run(deps, run) {
    const totals = { instants: 0, advanced: 0, failed: 0 };
    const advance = new Advance(deps, run, scheduled, totals);
    for (;;) {
      const clocks = await advancingClocks(deps.pool);
      let waiting = 0;
      for (const clock of clocks) {
        if (run.signal.aborted) return totals;
        if ((await advance.turn(clock)) === 'wait') waiting += 1;
      }
      if (clocks.length === 0 || run.signal.aborted) return totals;
      if (waiting === clocks.length) await sleep(POLL_MS);
    }
  },
});

type ClockJob<Deps> = Job<Deps> & { readonly ofCustomers: OfCustomers };

const isOfCustomers = <Deps>(job: Job<Deps>): job is ClockJob<Deps> =>
  job.ofCustomers !== undefined;

/** The predicted work of a job at `to`, which is not after the next instant of any job. */
const atNext = (work: DueWork, to: string): DueWork =>
  work.next === null || work.next > to ? work : { ...work, due: '1', next: null };

class Advance<Deps extends BillingDeps> {
  readonly #deps: Deps;
  readonly #run: JobRun;
  /** The jobs that work on customers, in their usual order. */
  readonly #jobs: readonly ClockJob<Deps>[];
  readonly #totals: { instants: number; advanced: number; failed: number };
  /** By clock: the work that the last reading predicted for the instant to which the clock was then moved. */
  readonly #foreseen = new Map<string, { readonly at: string; readonly work: DueWork[] }>();

  constructor(
    deps: Deps,
    run: JobRun,
    scheduled: readonly Job<Deps>[],
    totals: { instants: number; advanced: number; failed: number },
  ) {
    this.#deps = deps;
    this.#run = run;
    this.#totals = totals;
    this.#jobs = scheduled.filter(isOfCustomers);
  }

  /** Handles everything that is due at the clock's time, then moves the clock to the next instant. */
  async turn(clock: AdvancingClock): Promise<Turn> {
    if (clock.stream_heads !== null) {
      const heads = readStoredWatermarks(clock.stream_heads);
      if (!hasPassed(await readWatermarks(this.#deps.pool), heads)) return 'wait';
      await this.#write((tx) => noteStreamPassed(tx, clock));
    }
    const handled = await this.#instant(clock);
    if (handled === 'wait') return 'wait';
    failpoint('jobs.advance_test_clocks.after_instant');
    this.#totals.instants += 1;
    if (handled.failure !== null) {
      this.#totals.failed += 1;
      return await this.#end(clock, handled.failure);
    }
    if (clock.now >= clock.advancing_to) {
      this.#totals.advanced += 1;
      return await this.#end(clock, null);
    }
    const { work } = handled;
    const [next = clock.advancing_to] = work.flatMap((each) => each.next ?? []).sort();
    const to = next > clock.advancing_to ? clock.advancing_to : next;
    await this.#write((tx) => moveClock(tx, clock, to));
    this.#foreseen.set(clock.id, { at: to, work: work.map((each) => atNext(each, to)) });
    return 'again';
  }

  async #end(clock: AdvancingClock, error: string | null): Promise<Turn> {
    await this.#write((tx) => endAdvance(tx, clock, error, isoTime(this.#deps.clock.now())));
    return 'done';
  }

  /**
   * Does everything that is due at the clock's time. A pass runs the jobs with due work; then what is due is
   * read again. When a pass changes nothing, the jobs without instants run once; if they cause new work, the
   * passes begin again. The first pass uses what was read at the previous instant. Returns what the last
   * reading found as `work`.
   */
  async #instant(
    clock: AdvancingClock,
  ): Promise<'wait' | { readonly failure: string | null; readonly work: readonly DueWork[] }> {
    let work = this.#foreseenFor(clock) ?? (await this.#workOf(clock));
    let attempted = '';
    let isEvaluated = false;
    for (let pass = 0; pass < PASSES_MAX; pass += 1) {
      const open = work.filter(({ due }) => due !== '0');
      const due = open.filter(({ job }) => this.#hasInstants(job));
      const left = JSON.stringify(due.map(({ job, due: count, first }) => [job, count, first]));
      const isDue = due.length > 0 && left !== attempted;
      if (!isDue && isEvaluated) break;
      isEvaluated = !isDue;
      if (isDue) attempted = left;
      const chosen = isDue ? due : open.filter(({ job }) => !this.#hasInstants(job));
      if (chosen.length === 0) break;
      const names = new Set(chosen.map(({ job }) => job));
      for (const job of this.#jobs.filter(({ name }) => names.has(name))) {
        const { failure, report } = await this.#runJob(clock, job);
        if (failure !== null) return { failure, work };
        if ((report['waiting'] ?? 0) > 0) return 'wait';
      }
      work = await this.#workOf(clock);
    }
    return { failure: null, work };
  }

  #hasInstants(name: string): boolean {
    return this.#jobs.some((each) => each.name === name && 'dueTimes' in each.ofCustomers);
  }

  /** The predicted work at the clock's time; null if this run predicted none, so that it must be read. */
  #foreseenFor(clock: AdvancingClock): DueWork[] | null {
    const foreseen = this.#foreseen.get(clock.id);
    this.#foreseen.delete(clock.id);
    if (foreseen?.at !== clock.now) return null;
    const isDue = foreseen.work.some(({ job, due }) => due !== '0' && this.#hasInstants(job));
    return isDue ? foreseen.work : null;
  }

  #workOf(clock: AdvancingClock): Promise<DueWork[]> {
    const { pool } = this.#deps;
    const sources = this.#jobs.map(({ name, ofCustomers }) =>
      'dueTimes' in ofCustomers
        ? { job: name, dueTimes: ofCustomers.dueTimes(pool, clock) }
        : { job: name, rows: ofCustomers.workAt(pool, clock, clock.now) },
    );
    return dueWork(pool, clock.now, sources);
  }

  /** The same job that works in real time, with the clock's time, for the clock's customers. */
  async #runJob(
    clock: AdvancingClock,
    job: Job<Deps>,
  ): Promise<{ readonly failure: string | null; readonly report: JobReport }> {
    const { now: at } = clock;
    const actor = { kind: 'system', job: job.name } as const;
    const deps = {
      ...this.#deps,
      clock: { now: () => Date.parse(at) },
      pool: scopedPool(this.#deps.pool, { scope: null, actor, time: at }),
    };
    const failures: string[] = [];
    let temporary: { readonly error: unknown } | null = null as { readonly error: unknown } | null;
    const { lease, signal } = this.#run;
    const fail: NonNullable<JobRun['fail']> = (of, error, message) => {
      this.#run.fail?.({ ...of, test_clock_id: clock.id }, error, message);
      if (isTemporary(error)) temporary ??= { error };
      const [record] = Object.entries(of).filter(([key]) => !SCOPE_KEYS.includes(key));
      const name =
        record === undefined ? job.name : `${record[0].replace(/_id$/, '')} ${record[1]}`;
      failures.push(`${name}: ${reasonOf(error)}`);
    };
    const run = { lease, signal, at, test_clock_id: clock.id, fail };
    try {
      const report = await job.run(deps, run);
      if (temporary !== null) throw temporary.error;
      return { failure: failures[0] ?? null, report };
    } catch (error) {
      if (error instanceof JobLeaseLost || isTemporary(error)) throw error;
      this.#run.fail?.({ test_clock_id: clock.id }, error, `${job.name} failed for a test clock`);
      return { failure: failures[0] ?? `${job.name}: ${reasonOf(error)}`, report: {} };
    }
  }

  async #write(work: (tx: Parameters<typeof holdJobLease>[0]) => Promise<void>): Promise<void> {
    await this.#deps.pool.begin(async (tx) => {
      await holdJobLease(tx, this.#run.lease);
      await work(tx);
    });
  }
}

const SCOPE_KEYS = ['tenant_id', 'environment_id'];

/** An outage or a race: the next run of the advance repeats the instant. */
const isTemporary = (error: unknown): boolean => isOutage(error) || isPostgresRace(error);

/** The message of a refusal; the text of a bug goes only to the log. */
const reasonOf = (error: unknown): string =>
  error instanceof BillingError ? error.message : 'an unexpected error of the service';
