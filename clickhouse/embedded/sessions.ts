import type { ChdbResult, RawInsertFormat, Session } from 'chdb';
import { QueryFailed, tooManyQueries } from './errors.ts';

/** A statement with all parts of the request that affect its meaning. */
export interface Statement {
  readonly sql: string;
  readonly format: string;
  readonly database: string;
  readonly settings: ReadonlyMap<string, string>;
  /** Values of `{name:Type}` placeholders in the text form of the HTTP interface. */
  readonly params: ReadonlyMap<string, string>;
}

export interface RawInsert {
  readonly table: string;
  readonly columns: readonly string[] | undefined;
  readonly format: RawInsertFormat;
  readonly values: Buffer;
  readonly database: string;
  readonly settings: ReadonlyMap<string, string>;
}

const NO_PARAMS: ReadonlyMap<string, string> = new Map();
const WAITING_MAX = 500;
const QUERY_SIZE = 'max_query_size';

/**
 * A few sessions on one data directory. The engine allows one query at a time in each. Sessions run in
 * parallel and have separate settings, current databases and parameters.
 */
export class SessionPool {
  readonly #open: () => Session;
  readonly #idle: PooledSession[] = [];
  readonly #waiting: Waiting[] = [];

  constructor(open: () => Session, size: number) {
    this.#open = open;
    for (let index = 0; index < size; index += 1) this.#idle.push(new PooledSession(open()));
  }

  /** `isGone`: the client no longer waits for the answer. Checked before the statement begins. */
  query(statement: Statement, isGone = NOT_GONE): Promise<ChdbResult> {
    return this.#use((session) => session.query(statement), isGone);
  }

  /**
   * The payload goes to the engine without a copy. Returns the number of rows written, including the rows of
   * views.
   */
  insert(insert: RawInsert): Promise<number> {
    return this.#use((session) => session.insert(insert));
  }

  async #use<T>(
    work: (session: PooledSession) => Promise<T>,
    isGone: () => boolean = NOT_GONE,
  ): Promise<T> {
    const session = await this.#take(isGone);
    let next = session;
    try {
      return await work(session);
    } catch (error) {
      // How far a failed call got is unknown, and so is the state of its session.
      session.close();
      next = new PooledSession(this.#open());
      throw error;
    } finally {
      this.#give(next);
    }
  }

  #give(session: PooledSession): void {
    for (let waiting = this.#waiting.shift(); waiting; waiting = this.#waiting.shift()) {
      if (!waiting.isGone()) return waiting.resolve(session);
      waiting.reject(tooManyQueries());
    }
    this.#idle.push(session);
  }

  #take(isGone: () => boolean): PooledSession | Promise<PooledSession> {
    const session = this.#idle.pop();
    if (session !== undefined) return session;
    if (this.#waiting.length >= WAITING_MAX) throw tooManyQueries();
    return new Promise((resolve, reject) => this.#waiting.push({ resolve, reject, isGone }));
  }
}

interface Waiting {
  resolve(session: PooledSession): void;
  reject(error: Error): void;
  isGone(): boolean;
}

const NOT_GONE = (): boolean => false;

class PooledSession {
  readonly #session: Session;
  #database = 'default';
  #settings: ReadonlyMap<string, string> = new Map();
  #params = new Set<string>();

  constructor(session: Session) {
    this.#session = session;
  }

  async query(statement: Statement): Promise<ChdbResult> {
    this.#refuseForgottenParams(statement);
    await this.#allowQuerySize(statement.settings.get(QUERY_SIZE));
    const changes = this.#changes(statement.database, statement.settings, statement.params);
    // One call for both: a separate call would cost as much as a small query.
    return this.#session.queryAsync(changes + statement.sql, { format: statement.format });
  }

  async insert(insert: RawInsert): Promise<number> {
    const changes = this.#changes(insert.database, insert.settings, NO_PARAMS);
    if (changes !== '') await this.#session.queryAsync(changes);
    const { table, columns, format, values } = insert;
    const summary = await this.#session.insert({ table, columns, format, values });
    return summary.rowsWritten;
  }

  close(): void {
    this.#session.close();
  }

  /**
   * The limit on a call's text also applies to the call that raises it, so raising it takes a separate call.
   */
  async #allowQuerySize(size: string | undefined): Promise<void> {
    if (size === undefined || size === this.#settings.get(QUERY_SIZE)) return;
    await this.#session.queryAsync(`SET ${QUERY_SIZE} = ${literal(size)}`);
    this.#settings = new Map(this.#settings).set(QUERY_SIZE, size);
  }

  /** Statements that change the session from the state of the last query to the state that this one needs. */
  #changes(
    database: string,
    settings: ReadonlyMap<string, string>,
    params: ReadonlyMap<string, string>,
  ): string {
    const assignments: string[] = [];
    for (const [name, value] of settings) {
      if (this.#settings.get(name) !== value) assignments.push(`${name} = ${literal(value)}`);
    }
    for (const name of this.#settings.keys()) {
      if (!settings.has(name)) assignments.push(`${name} = DEFAULT`);
    }
    for (const [name, value] of params) {
      assignments.push(`param_${name} = ${literal(value)}`);
      this.#params.add(name);
    }
    this.#settings = settings;
    const use = database === this.#database ? '' : `USE ${identifier(database)};`;
    this.#database = database;
    return use + (assignments.length === 0 ? '' : `SET ${assignments.join(', ')};`);
  }

  /** The session still has parameters of earlier queries; for the caller they are not set. */
  #refuseForgottenParams(statement: Statement): void {
    for (const name of this.#params) {
      if (statement.params.has(name) || !statement.sql.includes(`{${name}:`)) continue;
      const message = `Code: 456. DB::Exception: Substitution \`${name}\` is not set. (UNKNOWN_QUERY_PARAMETER)`;
      throw new QueryFailed(456, message);
    }
  }
}

function literal(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}

function identifier(name: string): string {
  return `\`${name.replaceAll('\\', '\\\\').replaceAll('`', '\\`')}\``;
}
