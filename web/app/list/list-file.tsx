import { Download, X } from 'lucide-react';
import { useRef, useState } from 'react';
import { Button } from '../../ui/button.tsx';
import type { ListPage } from '../../ui/data-table.tsx';
import type { FileColumn } from './saved-list.ts';
import type { PageOf } from './whole-list.ts';

export type { FileColumn };

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
      // Few visits save a list: the code for it is loaded by the first that does.
      const { saveRows, wholeList } = await import('./saved-list.ts');
      const rows = await wholeList(page, controller.signal, onRead, followsKey);
      saveRows(rows, columns, name, ending);
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
