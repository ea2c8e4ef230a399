import { Download, X } from 'lucide-react';
import { useRef, useState } from 'react';
import { saveFile } from '../client/download.ts';
import { Button } from '../ui/button.tsx';
import { csvText } from '../ui/csv.ts';
import type { ListPage } from '../ui/data-table.tsx';

const PAGE_ROWS = 500;

/** A column of the file: its name, and the exact text of a row. */
export type FileColumn<Row> = readonly [string, (row: Row) => string | null];

/**
 * Saves a whole list, with the filters that are chosen, as CSV. It is read page by page: the button shows how far
 * it is, and stops it.
 */
export function ListFile<Row>({
  name,
  columns,
  page,
}: {
  /** Of the file, without its ending. */
  readonly name: string;
  readonly columns: readonly FileColumn<Row>[];
  readonly page: (
    paging: { readonly limit: number; readonly offset: number },
    signal: AbortSignal,
  ) => Promise<ListPage<Row>>;
}) {
  const stop = useRef<AbortController | null>(null);
  const [read, setRead] = useState<{ done: number; total: number } | null>(null);
  const [failure, setFailure] = useState<string | null>(null);
  const save = async (): Promise<void> => {
    const controller = new AbortController();
    stop.current = controller;
    const rows: string[][] = [];
    setFailure(null);
    setRead({ done: 0, total: 0 });
    try {
      for (;;) {
        const { items, pagination } = await page(
          { limit: PAGE_ROWS, offset: rows.length },
          controller.signal,
        );
        rows.push(...items.map((row) => columns.map(([, textOf]) => textOf(row) ?? '')));
        setRead({ done: rows.length, total: pagination.total });
        if (items.length < PAGE_ROWS) break;
      }
      const text = csvText([columns.map(([header]) => header), ...rows]);
      saveFile(new Blob([text], { type: 'text/csv' }), `${name}.csv`);
    } catch (error) {
      if (!controller.signal.aborted) setFailure((error as Error).message);
    } finally {
      setRead(null);
    }
  };
  if (read === null)
    return (
      <>
        {failure === null ? null : <span role="alert">The file was not saved. {failure}</span>}
        <Button icon={<Download size={14} aria-hidden />} onPress={() => void save()}>
          CSV
        </Button>
      </>
    );
  return (
    <Button icon={<X size={14} aria-hidden />} onPress={() => stop.current?.abort()}>
      Stop, {read.done.toLocaleString('en-US')} of {read.total.toLocaleString('en-US')}
    </Button>
  );
}
