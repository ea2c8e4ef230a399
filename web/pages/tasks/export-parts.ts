import { fileAnswer } from '../../client/download.ts';

export const FORMATS = ['csv', 'jsonl'] as const;
export type Format = (typeof FORMATS)[number];

const PART_ROWS = 10_000;

/**
 * Every row of an export as one file, part after part. `path` is the route with its filters. A CSV part begins
 * with the names of its columns: only those of the first part are kept.
 */
export async function exportParts(
  path: string,
  format: Format,
  { signal, onRows }: { readonly signal: AbortSignal; readonly onRows: (rows: number) => void },
): Promise<Blob> {
  const parts: string[] = [];
  let rows = 0;
  let cursor: string | null = null;
  do {
    const query = new URLSearchParams({ format, limit: String(PART_ROWS) });
    if (cursor !== null) query.set('cursor', cursor);
    const answer: Response = await fileAnswer(new Request(`/v1${path}&${query}`, { signal }));
    const text = await answer.text();
    parts.push(parts.length > 0 && format === 'csv' ? withoutHeader(text) : text);
    rows += Number(answer.headers.get('x-row-count') ?? 0);
    onRows(rows);
    cursor = answer.headers.get('x-next-cursor');
  } while (cursor !== null);
  return new Blob(parts, { type: format === 'csv' ? 'text/csv' : 'application/x-ndjson' });
}

/** Names of columns contain no line break. */
export const withoutHeader = (text: string): string => text.slice(text.indexOf('\n') + 1);
