import postgres from 'postgres';
import { isStatement } from './driver-statement.ts';

/**
 * Ends a transaction with its connection, and the connection with the first error that is not the server's: then
 * the driver may take the answer of one statement for that of another. The driver lets the work of a transaction
 * go on after its connection is lost; what it would send then, a rollback at least, ends the process. So the work
 * of a lost transaction sends nothing any more, and the driver is not told how it ended: `begin` throws the error.
 * The client must have one connection.
 */
export function endTransactionsWithTheirConnection(client: postgres.Sql): postgres.Sql {
  const begin = client.begin.bind(client) as Begin;
  const replaced: Begin = async (...given) => {
    const [options, work] = given.length === 1 ? ['', given[0]] : given;
    const life: Life = {
      lost: null,
      lose(error) {
        life.lost ??= error;
        void client.end({ timeout: 0 });
      },
    };
    try {
      return await begin(options, (tx) => unlessLost(life, () => work(guarded(tx, life))));
    } catch (error) {
      throw (life.lost ??= error);
    }
  };
  client.begin = replaced as typeof client.begin;
  return client;
}

type Work = (tx: postgres.TransactionSql) => unknown;
type Begin = (...given: [string, Work] | [Work]) => Promise<unknown>;

interface Life {
  /** The error with which the connection ended; null while the transaction may send. */
  lost: unknown;
  lose(error: unknown): void;
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
      if (!(error instanceof postgres.PostgresError)) life.lose(error);
      reject(error);
    };
    handler(statement);
  };
  return made;
}
