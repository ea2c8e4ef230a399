import type { Period } from '../../../domain/time/instant.ts';
import { inScope, type Db, type Fragment, type Scope } from '../../../postgres/client.ts';
import type { ScheduledTask } from '../../../schemas/scheduled-task.ts';

/** A row with its id and the time by which it is exported. */
export type Row = Readonly<Record<string, string | number | boolean | null>> & {
  readonly id: string;
  readonly at: string;
};

/** A row with the metadata from which a task takes further columns. */
export type ExportedRow = Row & {
  readonly customer_metadata: Readonly<Record<string, string>> | null;
  readonly wallet_metadata: Readonly<Record<string, string>> | null;
};

/** Entities whose rows are in Postgres; events and usage have readers of their own. */
export type StoredEntity = Exclude<ScheduledTask['entity_type'], 'events' | 'usage_analytics'>;

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

/** Names of the columns of the entity's rows, in the order of the file. */
export const exportedColumns = (entity: StoredEntity): readonly string[] =>
  COLUMNS[entity === 'invoice' ? 'invoice' : 'transaction'];

/**
 * Rows of a window by time and id, those that follow `after`, at most `limit`: invoices that were finalized in it;
 * credits (`credit_topups`) or debits (`credit_usage`) of wallets that were written in it, in their present state.
 */
export async function findExportedRows(
  db: Db,
  scope: Scope,
  entity: StoredEntity,
  { start, end }: Period,
  page: { readonly after: Row | null; readonly limit: number },
): Promise<readonly ExportedRow[]> {
  const { after, limit } = page;
  const at = entity === 'invoice' ? db`t.finalized_at` : db`t.created_at`;
  const names = exportedColumns(entity).filter((name) => name !== 'external_customer_id');
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
     order by ${at}, t.id limit ${limit}`;
}
