import { setTimeout as sleep } from 'node:timers/promises';
import type postgres from 'postgres';
import {
  connectClient,
  connectSeconds,
  type Db,
  type Pool,
  type ServerOptions,
} from './driver-client.ts';
import { send, type Answer, type Statement } from './driver-statement.ts';
import { isOfDriver, isPostgresOutage } from './outage.ts';

const IDLE_MS = 60_000;
/** What Postgres remembers for the statements of a connection ends with it. */
const LIFE_MS = 30 * 60_000;

/** Time limit for the confirmation that an unused connection has ended. */
const CLOSE_SECONDS = 1;

interface Lane {
  client: Pool;
  /** Whether the server has accepted the connection of the client. */
  isAccepted: boolean;
  /** Whether an answer has come over it. */
  isOpen: boolean;
  /** When it has lived long enough, by the monotonic clock of the process. */
  retiresAt: number;
  /** Runs while the lane is free. */
  idle: NodeJS.Timeout;
}

export interface LanesOptions extends ServerOptions {
  /** 10 by default. */
  readonly maxConnections?: number;
  /** Milliseconds after which an unused connection ends. */
  readonly idleMs?: number;
  /** Milliseconds after which a connection ends when its work is done; up to half as much again. */
  readonly lifeMs?: number;
}

/**
 * The connections of a pool: clients of the driver with one connection each, lent to one statement or transaction
 * at a time. A client whose connection has ended is never used again: another takes its lane.
 */
export class Lanes {
  readonly #lanes: Lane[];
  readonly #free: Lane[];
  #waiting: Waiting[] = [];
  readonly #options: LanesOptions;
  #ended: Promise<void> | null = null;

  constructor(options: LanesOptions) {
    this.#options = options;
    this.#lanes = Array.from({ length: options.maxConnections ?? 10 }, () => {
      const lane = {} as Lane;
      lane.idle = setTimeout(() => this.#noteIdle(lane), options.idleMs ?? IDLE_MS).unref();
      this.#connect(lane);
      return lane;
    });
    // The last one is taken first, so that few lanes are used when few are needed.
    this.#free = this.#lanes.toReversed();
  }

  /**
   * Runs the work when a lane is free. No other work uses the lane until its promise is settled. Throws
   * `CONNECTION_ENDED`, which the driver also uses, once the pool has ended.
   */
  async use<T>(work: (lane: Lane) => Promise<T>): Promise<T> {
    if (this.#ended !== null) throw poolHasEnded();
    const lane = this.#free.pop() ?? (await this.#nextFree());
    const { client } = lane;
    const limit = lane.isAccepted ? undefined : this.#limitOpening(lane);
    try {
      const result = await work(lane);
      lane.isOpen = lane.client === client;
      return result;
    } catch (error) {
      // Before the next work gets the lane: the end of the connection may be announced later than its error.
      if (lane.client === client && isPostgresOutage(error)) this.#replace(lane);
      throw error;
    } finally {
      clearTimeout(limit);
      this.#release(lane);
    }
  }

  /** Sends a statement outside of a transaction. */
  async sendAlone(statement: Statement): Promise<void> {
    const { resolve, reject } = statement;
    await this.use((lane) => send(lane.client, statement)).then(resolve, reject);
  }

  /**
   * Runs a statement in a transaction of its own that begins with `enter`. Everything is sent in one round trip if
   * the lane is open, so the statement also runs when `enter` fails: in the aborted transaction, or, if the
   * connection ends meanwhile, perhaps on the next one as if there were no transaction. It must have no effect
   * there. Throws the first error in the order in which they were sent.
   */
  async sendInTransaction(
    lane: Lane,
    enter: (db: Db) => Promise<unknown>,
    statement: Statement,
  ): Promise<Answer> {
    const { client } = lane;
    if (!lane.isOpen) return await sendInSteps(client, enter, statement);
    const begun = client`begin`.execute();
    const entered = enter(client);
    // The driver sends both one microtask later, before this continues.
    await Promise.resolve();
    const answer = send(client, statement);
    const steps = [begun, entered, answer, client`commit`.execute()];
    for (const step of steps)
      step.catch((error: unknown) => {
        if (lane.client === client && isOfDriver(error)) this.#replace(lane);
      });
    const settled = await Promise.allSettled(steps);
    const failure = settled.find((step) => step.status === 'rejected');
    if (failure !== undefined) throw failure.reason;
    return await answer;
  }

  /** A connection until `release`, which ends it: nothing of its session stays. Its statements fail once it is lost. */
  reserve(): Promise<postgres.ReservedSql> {
    return new Promise((resolve, reject) => {
      const lend = async (lane: Lane): Promise<void> => {
        const { client } = lane;
        await new Promise<void>((release) => {
          const reserved = new Proxy(client, {
            get: (target, property) =>
              property === 'release' ? release : (Reflect.get(target, property) as unknown),
          });
          resolve(reserved as unknown as postgres.ReservedSql);
        });
        if (lane.client === client) this.#replace(lane);
      };
      this.use(lend).catch(reject);
    });
  }

  /** Waits for the work that has begun or waits for a lane, at most `timeout` seconds if given. */
  end({ timeout }: { timeout?: number | undefined } = {}): Promise<void> {
    this.#ended ??= (async () => {
      const isIdle = this.#free.length === this.#lanes.length;
      const idle = new Promise<void>((resolve) => (this.#onIdle = resolve));
      const limit = new AbortController();
      if (!isIdle && timeout === undefined) await idle;
      else if (!isIdle)
        await Promise.race([
          idle,
          sleep(timeout! * 1000, undefined, { signal: limit.signal }).catch(() => {}),
        ]);
      limit.abort();
      for (const { fail } of this.#waiting.splice(0)) fail(poolHasEnded());
      const ends = this.#lanes.map((lane) => {
        clearTimeout(lane.idle);
        return lane.client.end({ timeout: this.#free.includes(lane) ? CLOSE_SECONDS : 0 });
      });
      await Promise.all(ends);
    })();
    return this.#ended;
  }
  #onIdle: () => void = () => {};

  #nextFree(): Promise<Lane> {
    return new Promise((got, fail) => this.#waiting.push({ got, fail }));
  }

  #release(lane: Lane): void {
    if (performance.now() > lane.retiresAt) this.#replace(lane);
    lane.idle.refresh();
    const next = this.#waiting.shift();
    if (next !== undefined) return next.got(lane);
    this.#free.push(lane);
    if (this.#free.length === this.#lanes.length) this.#onIdle();
  }

  #noteIdle(lane: Lane): void {
    if (lane.isAccepted && this.#free.includes(lane)) this.#replace(lane);
  }

  /**
   * A server that accepts connections and closes them at once makes the driver connect for ever, without an
   * error.
   */
  #limitOpening(lane: Lane): NodeJS.Timeout {
    const { client } = lane;
    const replace = (): void => {
      if (lane.client === client && !lane.isAccepted) this.#replace(lane);
    };
    // Later than the driver's own limit for one attempt, which has the better error.
    return setTimeout(replace, connectSeconds(this.#options.url) * 1000 + 500).unref();
  }

  #connect(lane: Lane): void {
    const client = connectClient({
      ...this.#options,
      onOpen: () => {
        if (lane.client === client) lane.isAccepted = true;
      },
      onClose: () => {
        if (lane.client === client) this.#replace(lane);
      },
    });
    lane.client = client;
    lane.isAccepted = false;
    lane.isOpen = false;
    // Not all at the same time.
    const lifeMs = (this.#options.lifeMs ?? LIFE_MS) * (1 + Math.random() / 2);
    lane.retiresAt = performance.now() + lifeMs;
  }

  /**
   * After the end of a connection, and after an error of the driver itself
   * (docs/decisions/0014-postgres-connections.md). Statements that still wait in the client are rejected.
   */
  #replace(lane: Lane): void {
    const { client } = lane;
    if (this.#ended === null) this.#connect(lane);
    void client.end({ timeout: 0 });
  }
}

interface Waiting {
  got: (lane: Lane) => void;
  fail: (error: unknown) => void;
}

const poolHasEnded = (): Error =>
  Object.assign(new Error('The pool has ended.'), { code: 'CONNECTION_ENDED' });

/** The same in the driver's own transaction, which waits for each answer. */
export async function sendInSteps(
  pool: Pool,
  enter: (db: Db) => Promise<unknown>,
  statement: Statement,
): Promise<Answer> {
  const { answer } = await pool.begin(async (tx) => {
    await enter(tx);
    return { answer: await send(tx, statement) };
  });
  return answer;
}
