import postgres from 'postgres';
import { SCALAR_TYPES, arrayTypes } from './driver-types.ts';
import { endTransactionsWithTheirConnection } from './lost-transactions.ts';

/**
 * A pool or a transaction. Every repository function takes one as its first parameter, so that each call
 * states which.
 */
export type Db = postgres.Sql | postgres.TransactionSql;
/** The pool alone, for code that begins transactions or listens. */
export type Pool = postgres.Sql;
export type Transaction = postgres.TransactionSql;
/** A part of a statement: a condition, a list of columns. */
export type Fragment = postgres.PendingQuery<postgres.Row[]>;

export interface ServerOptions {
  /** `connect_timeout` in the query string is in seconds, as for every client of Postgres. */
  readonly url: string;
  /** Shown in pg_stat_activity; the role of the process. */
  readonly applicationName: string;
  /** Server settings of every connection, for example `{ statement_timeout: '2s' }`. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Called with each statement before it is sent. */
  readonly onStatement?: (text: string, parameters: readonly unknown[]) => void;
}

interface ClientOptions extends ServerOptions {
  /** Called when the server has accepted the connection, perhaps more than once. */
  readonly onOpen?: () => void;
  /** Called when the connection has ended, for any reason. */
  readonly onClose?: () => void;
  /** True keeps the connection open, however long nothing is sent. */
  readonly onNotification?: (channel: string, payload: string) => void;
}

/**
 * A client of the driver with one connection, opened by its first statement. It must not be used after `onClose`,
 * nor after an error of the driver itself (docs/decisions/0014-postgres-connections.md).
 */
export function connectClient(options: ClientOptions): Pool {
  const { onStatement, onOpen, onClose, onNotification } = options;
  const client = postgres(options.url, {
    max: 1,
    connect_timeout: connectSeconds(options.url),
    idle_timeout: onNotification === undefined ? IDLE_SECONDS_MAX : undefined,
    max_lifetime: null,
    onnotice: () => {},
    ...(onOpen === undefined ? {} : { onparameter: onOpen }),
    ...(onClose === undefined ? {} : { onclose: onClose }),
    ...(onNotification === undefined ? {} : { onnotify: onNotification }),
    ...(onStatement === undefined
      ? {}
      : { debug: (_connection, text, parameters) => onStatement(text, parameters) }),
    connection: { application_name: options.applicationName, TimeZone: 'UTC', ...options.settings },
    transform: { undefined: null },
    fetch_types: false,
    types: TYPES,
  });
  return endTransactionsWithTheirConnection(client);
}

const scalars = postgres({ max: 1, types: SCALAR_TYPES }).options;
const TYPES = { ...arrayTypes(scalars), ...SCALAR_TYPES };

/** Longer than lanes keep an idle connection: the driver does not say that it is about to end one. */
const IDLE_SECONDS_MAX = 90;

const CONNECT_SECONDS = 5;

/** The driver reads it from the URL too, but an option overrides the URL. */
export const connectSeconds = (url: string): number =>
  Number(/[?&]connect_timeout=(\d+)/.exec(url)?.[1] ?? CONNECT_SECONDS);
