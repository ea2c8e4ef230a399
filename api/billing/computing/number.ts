import type { Scope, Transaction } from '../../../postgres/client.ts';

/** Prefix of invoice numbers; the parts are joined by `-`. */
const PREFIX = 'INV';
const DIGITS_MIN = 5;

/**
 * The next `count` numbers of the month in which the invoices are finalized, for example `INV-202611-00042`
 * (billing 17.5). The sequence's row stays locked until the transaction ends, so numbers have no
 * gaps: a rollback returns them before another transaction reads the sequence. Sequences longer than the
 * padding grow.
 */
export async function takeInvoiceNumbers(
  tx: Transaction,
  scope: Scope,
  finalizedAt: string,
  count: number,
): Promise<string[]> {
  if (count === 0) return [];
  const bucket = finalizedAt.slice(0, 7).replace('-', '');
  const [row] = await tx<{ last_number: number }[]>`
    insert into invoice_number_sequences as s (tenant_id, environment_id, bucket, last_number)
    values (${scope.tenant_id}, ${scope.environment_id}, ${bucket}, ${count})
    on conflict (tenant_id, environment_id, bucket)
      do update set last_number = s.last_number + ${count}
    returning last_number`;
  const first = row!.last_number - count + 1;
  return Array.from(
    { length: count },
    (_, index) => `${PREFIX}-${bucket}-${String(first + index).padStart(DIGITS_MIN, '0')}`,
  );
}
