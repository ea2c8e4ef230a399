import { JobLeaseLost } from '../../postgres/tables/job-leases.ts';
import { isOutage } from '../outage.ts';

export interface PartsDone<Item, Result> {
  /** The result of each part, in order. */
  readonly results: readonly Result[];
  readonly failed: readonly { readonly item: Item; readonly error: unknown }[];
}

/**
 * Processes a page as a whole. If that fails, it processes each half, down to the single items at fault: one
 * bad item among n costs about 2 log n further parts and does not block the others. Work that fails must
 * leave no changes. Rethrows errors that do not concern an item: an outage, a lost lease.
 */
export async function inParts<Item, Result>(
  items: readonly Item[],
  work: (part: readonly Item[]) => Promise<Result>,
): Promise<PartsDone<Item, Result>> {
  if (items.length === 0) return { results: [], failed: [] };
  try {
    return { results: [await work(items)], failed: [] };
  } catch (error) {
    if (isOutage(error) || error instanceof JobLeaseLost) throw error;
    if (items.length === 1) return { results: [], failed: [{ item: items[0]!, error }] };
  }
  const middle = Math.ceil(items.length / 2);
  const first = await inParts(items.slice(0, middle), work);
  const second = await inParts(items.slice(middle), work);
  return {
    results: [...first.results, ...second.results],
    failed: [...first.failed, ...second.failed],
  };
}
