import postgres from 'postgres';
import { errorCode, isNetworkOutage } from '../platform/network-outage.ts';
import { isStatement } from './driver-statement.ts';

/**
 * Ends a transaction with its connection. The driver lets the work of a transaction go on after its connection is
 * lost. When the connection is opened again for another query, the remaining statements of the work run on it,
 * each in a transaction of its own or in that of somebody else. The rollback that the driver sends then ends the
 * process, or takes the connection from the pool for ever. So the work of a lost transaction sends nothing any
 * more, and the driver is not told how it ended: `begin` throws the error of the lost connection.
 */
export function endTransactionsWithTheirConnection(pool: postgres.Sql): postgres.Sql {
  const begin = pool.begin.bind(pool) as Begin;
  const replaced: Begin = (...given) => {
    const [options, work] = given.length === 1 ? ['', given[0]] : given;
    const life: Life = { hasBegun: false, lost: null };
    const attempt = (): Promise<unknown> =>
      begin(options, (tx) => {
        life.hasBegun = true;
        return unlessLost(life, () => work(guarded(tx, life)));
      });
    const done = attempt().catch((error: unknown) => {
      if (life.hasBegun || !isOfConnectionBefore(error)) throw error;
      return attempt();
    });
    done.catch((error: unknown) => (life.lost ??= error));
    return done;
  };
  pool.begin = replaced as typeof pool.begin;
  return pool;
}

type Work = (tx: postgres.TransactionSql) => unknown;
type Begin = (...given: [string, Work] | [Work]) => Promise<unknown>;

interface Life {
  /** Whether the work has a transaction. */
  hasBegun: boolean;
  /** The error with which the connection ended; null while the transaction may send. */
  lost: unknown;
}

/** Never settles once the connection is lost: the driver would send a commit or a rollback. */
async function unlessLost(life: Life, work: () => unknown): Promise<unknown> {
  try {
    const result: unknown = await work();
    if (life.lost === null) return result;
  } catch (error) {
    if (life.lost === null) throw error;
  }
  return await new Promise<never>(() => {});
}

/** The transaction, whose statements notice a lost connection and are refused after it. */
function guarded(tx: postgres.TransactionSql, life: Life): postgres.TransactionSql {
  return new Proxy(tx, {
    apply(target, _this, given: unknown[]) {
      return guardedStatement(Reflect.apply(target as never, undefined, given), life);
    },
    get(target, property) {
      const value: unknown = Reflect.get(target, property);
      if (property === 'unsafe')
        return (...given: never[]) =>
          guardedStatement((value as (...all: never[]) => unknown)(...given), life);
      if (property === 'savepoint')
        return (...given: [string, Work] | [Work]) => {
          const [name, work] = given.length === 1 ? [null, given[0]] : given;
          const inner: Work = (nested) =>
            unlessLost(life, () => work(guarded(nested as postgres.TransactionSql, life)));
          const savepoint = value as Begin;
          return name === null ? savepoint(inner) : savepoint(name, inner);
        };
      return value;
    },
  });
}

function guardedStatement(made: unknown, life: Life): unknown {
  if (!isStatement(made)) return made;
  const { handler } = made;
  // Also called with a statement of another pool (`send`).
  made.handler = (statement) => {
    if (life.lost !== null) return statement.reject(life.lost);
    const { reject } = statement;
    statement.reject = (error) => {
      if (isLoss(error)) life.lost ??= error;
      reject(error);
    };
    handler(statement);
  };
  return made;
}

/** Whether the driver has lost the connection; for a connection that it has ended itself it sends nothing. */
const isLoss = (error: unknown): boolean =>
  !(error instanceof postgres.PostgresError) &&
  (errorCode(error) === 'CONNECTION_CLOSED' || isNetworkOutage(error));

/**
 * The error with which the server ended a connection. The driver gives it to the first query of the next one,
 * which it has not sent.
 */
const isOfConnectionBefore = (error: unknown): boolean =>
  error instanceof postgres.PostgresError && /^57P0[12]$/.test(error.code);
