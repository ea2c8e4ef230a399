import type { Transaction } from '../../postgres/client.ts';
import type { BillingDeps } from '../deps.ts';

/** Executes the work and rolls it back, so that a preview never differs from the execution. */
export async function rolledBack<Result>(
  { pool }: Pick<BillingDeps, 'pool'>,
  work: (tx: Transaction) => Promise<Result>,
): Promise<Result> {
  const undo = new Error('rollback of a preview');
  let result: { readonly value: Result } | null = null;
  await pool
    .begin(async (tx) => {
      result = { value: await work(tx) };
      throw undo;
    })
    .catch((error: unknown) => {
      if (error !== undo) throw error;
    });
  return result!.value;
}
