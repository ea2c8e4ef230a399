import type { Period } from '../../../domain/time/instant.ts';
import { inScope, type Db, type Fragment, type Scope } from '../../../postgres/client.ts';
import type { ScheduledTask } from '../../../schemas/scheduled-task.ts';
import type { ExportColumn } from '../exports/export-part.ts';

/** A row of Postgres with the metadata from which a task takes further columns. */
type Row = Readonly<Record<string, string | number | boolean | null>> & {
  readonly id: string;
  readonly at: string;
};
type MetadataRow = Row & {
  readonly customer_metadata: Readonly<Record<string, string>> | null;
  readonly wallet_metadata: Readonly<Record<string, string>> | null;
};
export type ExportedRow = MetadataRow;

/** Entities whose rows are in Postgres; events and usage have readers of their own. */
export type StoredEntity = Exclude<ScheduledTask['entity_type'], 'events' | 'usage_analytics'>;

const PAGE_ROWS = 1_000;

const DECIMALS = new Set([
  'subtotal', 'total_discount', 'total_tax', 'total', 'amount_due', 'amount_paid', 'amount_remaining',
  'amount', 'credit_amount', 'credit_balance_before', 'credit_balance_after',
]); // prettier-ignore

const COLUMNS: Readonly<Record<'invoice' | 'transaction', readonly string[]>> = {
  invoice: [
    'id', 'invoice_number', 'customer_id', 'external_customer_id', 'subscription_id', 'invoice_type', 'invoice_status',
    'payment_status', 'billing_reason', 'currency', 'subtotal', 'total_discount', 'total_tax', 'total', 'amount_due',
    'amount_paid', 'amount_remaining', 'period_start', 'period_end', 'due_date', 'finalized_at', 'paid_at', 'voided_at',
  ],
  transaction: [
    'id', 'wallet_id', 'customer_id', 'external_customer_id', 'transaction_status', 'transaction_reason', 'currency',
    'amount', 'credit_amount', 'credit_balance_before', 'credit_balance_after', 'expiry_date', 'reference_type',
    'reference_id', 'description', 'created_at',
  ],
}; // prettier-ignore

/** The columns of a task's file: those of its entity, then one for each metadata field that it names. */
export function columnsOf(entity: StoredEntity, config: ScheduledTask['job_config']) {
  const names = COLUMNS[entity === 'invoice' ? 'invoice' : 'transaction'];
  const own = names.map((name): ExportColumn<ExportedRow> => ({
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

/**
 * Pages of the rows of a window, by time and id: invoices that were finalized in it; credits (`credit_topups`)
 * and debits (`credit_usage`) of wallets that were written in it, in their present state.
 */
export async function* exportedRows(
  db: Db,
  scope: Scope,
  entity: StoredEntity,
  window: Period,
): AsyncGenerator<readonly ExportedRow[]> {
  let after: Row | null = null;
  for (;;) {
    const rows: readonly ExportedRow[] = await page(db, scope, entity, window, after);
    if (rows.length > 0) yield rows;
    if (rows.length < PAGE_ROWS) return;
    after = rows.at(-1)!;
  }
}

async function page(
  db: Db,
  scope: Scope,
  entity: StoredEntity,
  { start, end }: Period,
  after: Row | null,
): Promise<readonly ExportedRow[]> {
  const at = entity === 'invoice' ? db`t.finalized_at` : db`t.created_at`;
  const names = COLUMNS[entity === 'invoice' ? 'invoice' : 'transaction'].filter(
    (name) => name !== 'external_customer_id',
  );
  const from: Fragment =
    entity === 'invoice'
      ? db`invoices t`
      : db`wallet_transactions t join wallets w on w.id = t.wallet_id`;
  return await db<ExportedRow[]>`
    select ${db(names.map((name) => `t.${name}`))}, ${at} as at, c.external_id as external_customer_id,
           c.metadata as customer_metadata,
           ${entity === 'invoice' ? db`null::jsonb` : db`w.metadata`} as wallet_metadata
      from ${from} left join customers c on c.id = t.customer_id
     where ${inScope(db, scope, 't')} and ${at} >= ${start} and ${at} < ${end}
       ${entity === 'invoice' ? db`` : db`and t.type = ${entity === 'credit_topups' ? 'credit' : 'debit'}`}
       ${after === null ? db`` : db`and (${at}, t.id) > (${after.at}, ${after.id})`}
     order by ${at}, t.id limit ${PAGE_ROWS}`;
}
