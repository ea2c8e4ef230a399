import { invalidField } from '../../../domain/errors.ts';
import type { UsageQuery, UsageRow } from '../../../domain/metering/usage.ts';
import { epochMs } from '../../../domain/time/instant.ts';
import type { Scope } from '../../../postgres/client.ts';
import type { UsageExportQuery } from '../../../schemas/export.ts';
import { refuseSetAside } from '../../../domain/metering/set-aside.ts';
import type { UsageDeps } from '../../deps.ts';
import { getMeter } from '../../catalog/meters/repository.ts';
import { askUsage, usageStillCounted } from '../../usage/quantities/ask-usage.ts';
import { askedVersion } from '../../usage/quantities/meter-usage.ts';
import { rangeOf } from '../../conventions/usage-range.ts';
import { PartWriter, type ExportColumn, type ExportPart } from './export-part.ts';

/** Customers per usage query. */
const PAGE_CUSTOMERS = 100;

type ExportedUsage = UsageRow & {
  readonly meter_id: string;
  readonly event_name: string;
  readonly external_customer_id: string;
};

const COLUMNS: readonly ExportColumn<ExportedUsage>[] = [
  { name: 'meter_id', cell: (row) => row.meter_id },
  { name: 'event_name', cell: (row) => row.event_name },
  { name: 'external_customer_id', cell: (row) => row.external_customer_id },
  { name: 'window_start', cell: (row) => row.window_start },
  { name: 'group', cell: (row) => row.group.join(' ') },
  { name: 'quantity', cell: (row) => row.quantity, decimal: true },
  { name: 'event_count', cell: (row) => row.event_count },
];

/**
 * Usage of a meter per customer of the environment in `[start_time, end_time)`, by external id: the same
 * quantities as an invoice over that time. Usage may exist before the customer's record, and stays when the
 * record is deleted. Customers without usage have no row; rows of one customer stay in one part.
 */
export async function exportUsage(
  deps: UsageDeps,
  scope: Scope,
  query: UsageExportQuery,
): Promise<ExportPart> {
  const meter = await getMeter(deps.pool, scope, query.meter_id);
  const { start, end } = rangeOf(deps.clock, query);
  const version = await askedVersion(deps, scope, meter.id, [], start);
  refuseSetAside(version);
  if (version.backfill_state !== 'complete') throw usageStillCounted();
  const { type, multiplier, bucket_size, group_by } = version.spec.aggregation;
  const size = bucket_size ?? query.window_size ?? null;
  const part = new PartWriter(COLUMNS, query);
  let after = query.cursor === undefined ? '' : customerOf(query.cursor);
  while (part.room > 0) {
    const customers = await deps.eventReader.meteredCustomers({
      ...scope,
      meter_version_id: version.id,
      external_customer_id: query.external_customer_id ?? null,
      after,
      end: epochMs(end),
      limit: PAGE_CUSTOMERS,
    });
    const asks = customers.map((external_customer_id) => ({
      version,
      query: {
        ...scope,
        key: external_customer_id,
        meter_version_id: version.id,
        aggregation: type,
        multiplier,
        reset_usage: version.spec.reset_usage,
        external_customer_ids: [external_customer_id],
        start,
        end,
        filter_values: {},
        excluded_filter_values: [],
        group_by: bucket_size !== null && group_by !== null ? [group_by] : [],
        window:
          size === null
            ? null
            : { bucket_size: size, timezone: query.timezone ?? 'UTC', billing_anchor: null },
      } satisfies UsageQuery,
    }));
    const answers = await askUsage(deps, asks);
    for (const external_customer_id of customers) {
      const rows = (answers.get(external_customer_id) ?? []).filter((row) => row.event_count > 0);
      const named = { meter_id: meter.id, event_name: meter.event_name, external_customer_id };
      part.write(
        rows.map((row) => ({ ...named, ...row })),
        (row) => row,
      );
      after = external_customer_id;
      if (part.room === 0) break;
    }
    if (part.room > 0 && customers.length < PAGE_CUSTOMERS) return part.end(null);
  }
  return part.end(Buffer.from(after).toString('base64url'));
}

/** A part without rows: usage of an environment without meters. */
export const noUsage = (as: ConstructorParameters<typeof PartWriter>[1]): ExportPart =>
  new PartWriter(COLUMNS, as).end(null);

function customerOf(cursor: string): string {
  const text = Buffer.from(cursor, 'base64url').toString();
  if (text === '' || /[\u0000\ufffd]/.test(text))
    throw invalidField('cursor', 'must be a cursor that an export returned');
  return text;
}
