import type postgres from 'postgres';

/** What the driver answers a statement with. */
export type Answer = postgres.RowList<postgres.Row[]>;

/** Members of the query that the types of the driver omit; test/contract/lanes.test.ts checks them. */
export interface Statement {
  /** Sends it. The driver calls this when the statement is awaited. */
  handler: (statement: Statement) => void;
  resolve: (answer: Answer) => void;
  reject: (error: unknown) => void;
}

/** Not the other values that a call of a pool or transaction makes: identifiers and lists of values. */
export const isStatement = (made: unknown): made is Statement => made instanceof Promise;

/** Sends a statement that another pool made as one of this. It must not have been sent yet. */
export function send(db: postgres.ISql, statement: Statement): Promise<Answer> {
  return new Promise((done, failed) => {
    statement.resolve = done;
    statement.reject = failed;
    (db`` as unknown as Statement).handler(statement);
  });
}

/** Functions of a pool besides statements and `begin`: they act on connections of their own choice. */
export const OTHER_FUNCTIONS: ReadonlySet<string | symbol> = new Set([
  'unsafe', 'file', 'reserve', 'listen', 'notify', 'subscribe', 'largeObject', 'close', 'end',
]); // prettier-ignore
