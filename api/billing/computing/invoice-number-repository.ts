import {
  numberBucket,
  numberText,
  type NumberFormat,
} from '../../../domain/invoicing/invoice-number.ts';
import type { Scope, Transaction } from '../../../postgres/client.ts';

/**
 * The next `count` numbers of the date on which the invoices are finalized, for example `INV-202611-00042`, as
 * the setting `invoice_config` says (billing 17.5). The sequence's row stays locked until the transaction
 * ends, so numbers have no gaps: a rollback returns them before another transaction reads the sequence. A
 * start that is raised later moves the sequence up; one that is lowered assigns no used number again.
 */
export async function takeInvoiceNumbers(
  tx: Transaction,
  scope: Scope,
  finalizedAt: string,
  count: number,
  config: NumberFormat & { readonly start_sequence: number },
): Promise<string[]> {
  if (count === 0) return [];
  const bucket = numberBucket(finalizedAt, config);
  const before = config.start_sequence - 1;
  const [row] = await tx<{ last_number: number }[]>`
    insert into invoice_number_sequences as s (tenant_id, environment_id, bucket, last_number)
    values (${scope.tenant_id}, ${scope.environment_id}, ${bucket}, ${before + count})
    on conflict (tenant_id, environment_id, bucket)
      do update set last_number = greatest(s.last_number, ${before}) + ${count}
    returning last_number`;
  const first = row!.last_number - count + 1;
  return Array.from({ length: count }, (_, index) => numberText(bucket, first + index, config));
}
