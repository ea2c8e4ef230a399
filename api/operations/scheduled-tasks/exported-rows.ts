import type { Period } from '../../../domain/time/instant.ts';
import type { Db, Scope } from '../../../postgres/client.ts';
import type { ScheduledTask } from '../../../schemas/scheduled-task.ts';
import type { ExportColumn } from '../exports/export-part.ts';
import {
  exportedColumns,
  findExportedRows,
  type ExportedRow,
  type Row,
  type StoredEntity,
} from './exported-row-repository.ts';

const PAGE_ROWS = 1_000;

const DECIMALS = new Set([
  'subtotal', 'total_discount', 'total_tax', 'total', 'amount_due', 'amount_paid', 'amount_remaining',
  'amount', 'credit_amount', 'credit_balance_before', 'credit_balance_after',
]); // prettier-ignore

/** The columns of a task's file: those of its entity, then one for each metadata field that it names. */
export function columnsOf(entity: StoredEntity, config: ScheduledTask['job_config']) {
  const own = exportedColumns(entity).map((name): ExportColumn<ExportedRow> => ({
    name,
    cell: (row) => row[name] ?? null,
    decimal: DECIMALS.has(name),
  }));
  const further = config.export_metadata_fields.map(
    ({ entity_type, field_key, column_name }): ExportColumn<ExportedRow> => ({
      name: column_name,
      cell: ({ customer_metadata, wallet_metadata }) =>
        (entity_type === 'customer' ? customer_metadata : wallet_metadata)?.[field_key] ?? null,
    }),
  );
  return [...own, ...further];
}

/** The rows of a window in pages, by time and id. */
export async function* exportedRows(
  db: Db,
  scope: Scope,
  entity: StoredEntity,
  window: Period,
): AsyncGenerator<readonly ExportedRow[]> {
  let after: Row | null = null;
  for (;;) {
    const page = { after, limit: PAGE_ROWS };
    const rows: readonly ExportedRow[] = await findExportedRows(db, scope, entity, window, page);
    if (rows.length > 0) yield rows;
    if (rows.length < PAGE_ROWS) return;
    after = rows.at(-1)!;
  }
}
