import { connectPostgres, type Db, type Pool, type PostgresOptions } from './client.ts';
import {
  OTHER_FUNCTIONS,
  isStatement,
  send,
  type Answer,
  type Statement,
} from './driver-statement.ts';
import { isOfDriver, isPostgresOutage } from './outage.ts';

/**
 * A pool that is made of lanes: clients of the driver with one connection each. Only such a client may send a
 * begin, statements and a commit together (`sendInTransaction`); in a pool of several connections the driver waits
 * for the answer to the begin. Offers statements, `begin`, `options`, types and `end`. Other functions of a pool
 * are refused: they would run beside the lanes. Rejects if the server does not answer.
 */
export async function connectLanes(options: PostgresOptions): Promise<Pool> {
  const maker = connectPostgres({ ...options, maxConnections: 1 });
  try {
    // The driver reads the types of arrays before its first answer.
    await maker`select`;
  } finally {
    await maker.end({ timeout: 1 });
  }
  const lanes = new Lanes({ ...options, typesOf: maker });
  const pool = new Proxy(maker, {
    apply(target, _this, given: [unknown, ...unknown[]]) {
      const made: unknown = Reflect.apply(target as never, undefined, given);
      // A call with a template creates a statement or a part of one; awaiting it decides.
      if (isStatement(made)) made.handler = (statement) => void lanes.sendAlone(statement);
      return made;
    },
    get(target, property) {
      if (property === 'begin')
        return (...given: Parameters<Begin>) =>
          lanes.use((lane) => (lane.client.begin as Begin)(...given));
      if (property === 'end') return (given: { timeout?: number }) => lanes.end(given);
      if (OTHER_FUNCTIONS.has(property))
        return () => {
          throw new Error(`${String(property)} would run beside the lanes`);
        };
      return Reflect.get(target, property) as unknown;
    },
  });
  lanesOfPools.set(pool, lanes);
  return pool;
}

type Begin = (...given: unknown[]) => Promise<unknown>;

const lanesOfPools = new WeakMap<Pool, Lanes>();

/** Null for a pool that `connectLanes` did not return. */
export const lanesOf = (pool: Pool): Lanes | null => lanesOfPools.get(pool) ?? null;

interface Lane {
  client: Pool;
  /** Whether an answer has come over the connection that is open now. */
  isOpen: boolean;
}

export class Lanes {
  readonly #lanes: Lane[];
  readonly #free: Lane[];
  readonly #waiting: ((lane: Lane) => void)[] = [];
  readonly #options: PostgresOptions;
  #isEnded = false;

  constructor(options: PostgresOptions) {
    this.#options = options;
    this.#lanes = Array.from({ length: options.maxConnections ?? 10 }, () => {
      const lane = { isOpen: false } as Lane;
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
    if (this.#isEnded)
      throw Object.assign(new Error('The pool has ended.'), { code: 'CONNECTION_ENDED' });
    const lane = this.#free.pop() ?? (await new Promise<Lane>((got) => this.#waiting.push(got)));
    const { client } = lane;
    try {
      const result = await work(lane);
      lane.isOpen = lane.client === client;
      return result;
    } catch (error) {
      // Before the next work gets the lane: the end of the connection may be announced later than its error.
      if (lane.client === client && isPostgresOutage(error)) this.#replace(lane);
      throw error;
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#free.push(lane);
      else next(lane);
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
        if (isOfDriver(error)) this.#replace(lane);
      });
    const settled = await Promise.allSettled(steps);
    const failure = settled.find((step) => step.status === 'rejected');
    if (failure !== undefined) throw failure.reason;
    return await answer;
  }

  async end(given: { timeout?: number }): Promise<void> {
    this.#isEnded = true;
    await Promise.all(this.#lanes.map(({ client }) => client.end(given)));
  }

  #connect(lane: Lane): void {
    const client = connectPostgres({
      ...this.#options,
      maxConnections: 1,
      onClose: () => {
        if (lane.client === client) this.#replace(lane);
      },
    });
    lane.client = client;
    lane.isOpen = false;
  }

  /**
   * After the end of a connection: what the client had not yet written keeps it from writing over the next
   * connection, for ever (driver 3.4.9). And after an error of the driver itself, as for a value that it cannot
   * serialize: it rejects the statement that waits for an answer, sends nothing for the one at fault, and takes
   * later answers for those of others. Statements that still wait in the client are rejected.
   */
  #replace(lane: Lane): void {
    if (this.#isEnded) return;
    const { client } = lane;
    this.#connect(lane);
    void client.end({ timeout: 0 });
  }
}

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
