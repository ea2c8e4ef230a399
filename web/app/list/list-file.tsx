import { Download, X } from 'lucide-react';
import { useRef, useState } from 'react';
import { saveFile } from '../../client/download.ts';
import { Button } from '../../ui/button.tsx';
import { csvText } from '../../ui/csv.ts';
import type { ListPage } from '../../ui/data-table.tsx';
import { wholeList, type PageOf } from './whole-list.ts';

/** A column of the file: its name, and the exact text of a row. */
export type FileColumn<Row> = readonly [string, (row: Row) => string | null];

/**
 * Saves a whole list, with the filters that are chosen: as CSV with the columns of the file, or as JSONL with the
 * records as the API answers them. It is read page by page: the button shows how far it is, and stops it.
 */
export function ListFile<Row extends { readonly id: string }>({
  name,
  columns,
  page,
  followsKey = false,
}: {
  /** Of the file, without its ending. */
  readonly name: string;
  readonly columns: readonly FileColumn<Row>[];
  readonly page: PageOf<ListPage<Row>>;
  /** True: the page goes on after its last row, and rows may share an id. */
  readonly followsKey?: boolean;
}) {
  const stop = useRef<AbortController | null>(null);
  const [read, setRead] = useState<{ done: number; total: number } | null>(null);
  const [failure, setFailure] = useState<string | null>(null);
  const save = async (ending: 'csv' | 'jsonl'): Promise<void> => {
    const controller = new AbortController();
    stop.current = controller;
    setFailure(null);
    setRead({ done: 0, total: 0 });
    try {
      const onRead = (done: number, total: number): void => setRead({ done, total });
      const rows = await wholeList(page, controller.signal, onRead, followsKey);
      const file =
        ending === 'csv'
          ? new Blob([csvOf(columns, rows)], { type: 'text/csv' })
          : new Blob(
              rows.map((row) => `${JSON.stringify(row)}\n`),
              { type: 'application/jsonl' },
            );
      saveFile(file, `${name}.${ending}`);
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
        <Button icon={<Download size={14} aria-hidden />} onPress={() => void save('csv')}>
          CSV
        </Button>
        <Button icon={<Download size={14} aria-hidden />} onPress={() => void save('jsonl')}>
          JSONL
        </Button>
      </>
    );
  return (
    <Button icon={<X size={14} aria-hidden />} onPress={() => stop.current?.abort()}>
      Stop, {read.done.toLocaleString('en-US')} of {read.total.toLocaleString('en-US')}
    </Button>
  );
}

const csvOf = <Row,>(columns: readonly FileColumn<Row>[], rows: readonly Row[]): string =>
  csvText([
    columns.map(([header]) => header),
    ...rows.map((row) => columns.map(([, textOf]) => textOf(row) ?? '')),
  ]);
