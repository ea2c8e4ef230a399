import { gzipSync } from 'node:zlib';
import type { EventReader } from '../../../clickhouse/reading/event-reader.ts';
import type { Period } from '../../../domain/time/instant.ts';
import { EXPORT_ROWS_MAX } from '../../../schemas/export.ts';
import type { ScheduledTask } from '../../../schemas/scheduled-task.ts';
import { publishedMeterIds } from '../../catalog/meters/repository.ts';
import type { BillingDeps } from '../../deps.ts';
import { exportEvents } from '../exports/export-events.ts';
import { PartWriter, type ExportPart } from '../exports/export-part.ts';
import { exportUsage, noUsage } from '../exports/export-usage.ts';
import { columnsOf, exportedRows } from './exported-rows.ts';

/** One file of a window. */
export interface ExportFile {
  readonly key: string;
  readonly body: Buffer;
  readonly rows: number;
  readonly content_type: string;
}

export type ExportDeps = Pick<BillingDeps, 'pool' | 'clock' | 'usageReader'> & {
  readonly eventReader: EventReader;
};

const PART = { format: 'csv', limit: EXPORT_ROWS_MAX } as const;

/**
 * The files of a task's window as CSV, one after another; at least one, so that a window without rows is
 * visible too; of usage one for each meter. A file has at most 50,000 rows. The names depend on the task and the
 * window only, so a repeated run replaces its files (money 19.4).
 */
export async function* exportFiles(
  deps: ExportDeps,
  task: ScheduledTask,
  window: Period,
): AsyncGenerator<ExportFile> {
  const { job_config: config, entity_type } = task;
  const isZipped = config.compression === 'gzip';
  const prefix = config.key_prefix.split('/').filter((piece) => piece !== '');
  const time = (at: string) => at.replace(/[-:]|\.\d+/g, '');
  let number = 0;
  for await (const part of partsOf(deps, task, window)) {
    number += 1;
    const name = `${time(window.start)}-${time(window.end)}-${String(number).padStart(4, '0')}.csv`;
    const text = Buffer.from(part.text);
    yield {
      key: [...prefix, entity_type, task.id, `${name}${isZipped ? '.gz' : ''}`].join('/'),
      body: isZipped ? gzipSync(text) : text,
      rows: part.rows,
      content_type: isZipped ? 'application/gzip' : 'text/csv; charset=utf-8',
    };
  }
}

async function* partsOf(
  deps: ExportDeps,
  task: ScheduledTask,
  window: Period,
): AsyncGenerator<ExportPart> {
  const times = { start_time: window.start, end_time: window.end };
  switch (task.entity_type) {
    case 'events':
      return yield* pages((cursor) => exportEvents(deps, task, { ...PART, ...times, cursor }));
    case 'usage_analytics':
      return yield* usageParts(deps, task, times);
    default: {
      const columns = columnsOf(task.entity_type, task.job_config);
      let part = new PartWriter(columns, PART);
      for await (const rows of exportedRows(deps.pool, task, task.entity_type, window)) {
        part.write(rows, (row) => row);
        if (part.room > 0) continue;
        yield part.end(null);
        part = new PartWriter(columns, PART);
      }
      yield part.end(null);
    }
  }
}

/** Meter by meter; one part without rows if there is no meter. */
async function* usageParts(
  deps: ExportDeps,
  task: ScheduledTask,
  times: { readonly start_time: string; readonly end_time: string },
): AsyncGenerator<ExportPart> {
  const meters = await publishedMeterIds(deps.pool, task);
  if (meters.length === 0) yield noUsage(PART);
  for (const meter_id of meters)
    yield* pages((cursor) =>
      exportUsage(deps, task, { ...PART, ...times, meter_id, window_size: null, cursor }),
    );
}

async function* pages(
  read: (cursor: string | undefined) => Promise<ExportPart>,
): AsyncGenerator<ExportPart> {
  let cursor: string | undefined;
  for (;;) {
    const part = await read(cursor);
    yield part;
    if (part.next_cursor === null) return;
    cursor = part.next_cursor;
  }
}
