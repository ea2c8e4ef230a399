import type { Pool } from '../../postgres/client.ts';

/** A pool like `pool`, and how many statements it has sent and how many rows they have read, in transactions too. */
export function countingPool(pool: Pool): {
  readonly pool: Pool;
  readonly rows: () => number;
  readonly statements: () => number;
} {
  let [rows, statements] = [0, 0];
  const counting = (db: any): any =>
    new Proxy(db, {
      apply(target, self, given) {
        const query: any = Reflect.apply(target, self, given);
        const isStatement = Array.isArray(given[0]?.raw);
        if (!isStatement) return query;
        // Parts of statements are never awaited.
        const then = query.then.bind(query);
        query.then = (done: any, failed: any) =>
          then((read: unknown[]) => {
            rows += read.length;
            statements += 1;
            return read;
          }).then(done, failed);
        return query;
      },
      get(target, property) {
        if (property !== 'begin' && property !== 'savepoint') return Reflect.get(target, property);
        return (...given: any[]) =>
          target[property](...given.slice(0, -1), (tx: unknown) => given.at(-1)(counting(tx)));
      },
    });
  return { pool: counting(pool) as Pool, rows: () => rows, statements: () => statements };
}
