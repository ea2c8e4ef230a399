import { BillingError, invalidField } from '../../../domain/errors.ts';
import { allocate, type Currency } from '../../../domain/currency.ts';
import { decimal, decimalText, Decimal, sum } from '../../../domain/money.ts';
import type { UsageAnswers, UsageQuery } from '../../../domain/metering/usage.ts';
import type { Scope } from '../../../postgres/client.ts';
import { meterVersionsOf } from '../../../postgres/tables/meter-versions.ts';
import type { Invoice, InvoiceLineItem, InvoiceLineRecord } from '../../../schemas/invoice.ts';
import type { BillingDeps } from '../../deps.ts';
import { readStoredWatermarks } from '../computing/stored-watermarks.ts';
import { linesOfInvoices } from '../records/invoice-line-repository.ts';
import { getStoredInvoice } from '../records/invoice-repository.ts';

type Deps = Pick<BillingDeps, 'pool' | 'usageReader'>;

const GROUPS_MAX = 1_000;
const SOURCE = 'source';
const PROPERTY = 'properties.';

/** How the usage of an invoice's rows is shared out: by source, or by these names, or both. */
export interface UsageShares {
  readonly by_source: boolean;
  /** `source` and `properties.NAME`. */
  readonly group_by: readonly string[];
}

/** One group of a row's usage. */
interface Share {
  readonly group: readonly string[];
  readonly cost: string;
  readonly event_count: number;
  readonly percentage: string;
  readonly usage: string;
}

/**
 * The invoice with its usage rows shared out (billing 17.9). The usage is that of the invoice: it is read below
 * the same positions. 400 for a property that no meter of the invoice keeps with its usage.
 */
export async function withUsageShares(
  deps: Deps,
  scope: Scope,
  answer: Invoice,
  asked: UsageShares,
): Promise<Invoice> {
  if (!asked.by_source && asked.group_by.length === 0) return answer;
  const names = asked.group_by.map(nameOf);
  const invoice = await getStoredInvoice(deps.pool, scope, answer.id);
  const all = await linesOfInvoices(deps.pool, scope, [answer.id]);
  const lines = all.filter(({ usage_queries }) => usage_queries.length > 0);
  const kept = await keptDimensions(deps, scope, lines);
  const keeps = (line: InvoiceLineRecord): boolean =>
    names.every((name) => name === SOURCE || kept.get(line.id)!.includes(name));
  const grouped = lines.filter(keeps);
  if (lines.length > 0 && names.length > 0 && grouped.length === 0)
    throw invalidField(
      'group_by',
      'names a property that no meter of the invoice keeps with its usage',
    );
  if (invoice.usage_watermarks === null) return answer;
  const at = readStoredWatermarks(invoice.usage_watermarks);
  const shares = async (
    of: readonly InvoiceLineRecord[],
    group_by: readonly string[],
  ): Promise<ReadonlyMap<string, readonly Share[]>> => {
    const queries = of.flatMap(queriesOf).map((query) => ({ ...query, group_by }));
    const answers = await deps.usageReader.read(queries, { at });
    return new Map(of.map((line) => [line.id, sharesOf(line, answers, invoice.currency)]));
  };
  const bySource = asked.by_source ? await shares(lines, [SOURCE]) : null;
  const byNames = names.length > 0 ? await shares(grouped, names) : null;
  const shared = (line: InvoiceLineItem): InvoiceLineItem => ({
    ...line,
    usage_analytics:
      bySource?.get(line.id)?.map(({ group: [source], ...share }) => ({
        source: source!,
        ...share,
      })) ?? null,
    usage_breakdown:
      byNames?.get(line.id)?.map(({ group, ...share }) => ({
        ...share,
        grouped_by: Object.fromEntries(asked.group_by.map((name, index) => [name, group[index]!])),
      })) ?? null,
  });
  return { ...answer, line_items: answer.line_items?.map(shared) ?? null };
}

function nameOf(name: string): string {
  if (name === SOURCE) return name;
  if (name.startsWith(PROPERTY) && name.length > PROPERTY.length)
    return name.slice(PROPERTY.length);
  throw invalidField('group_by', `takes source and properties.NAME, not ${name}`);
}

/** The properties that are kept with the usage of each line. */
async function keptDimensions(
  deps: Deps,
  scope: Scope,
  lines: readonly InvoiceLineRecord[],
): Promise<ReadonlyMap<string, readonly string[]>> {
  const meters = [...new Set(lines.flatMap(({ meter_id }) => meter_id ?? []))];
  const versions = await meterVersionsOf(deps.pool, scope, meters);
  const byId = new Map(versions.map(({ id, dimensions }) => [id, dimensions]));
  return new Map(
    lines.map((line) => {
      const dimensions = queriesOf(line).map((query) => byId.get(query.meter_version_id) ?? []);
      return [
        line.id,
        (dimensions[0] ?? []).filter((name) => dimensions.every((own) => own.includes(name))),
      ];
    }),
  );
}

/** The groups of a row, the largest first. Their costs sum to the row's amount. */
function sharesOf(line: InvoiceLineRecord, { answers }: UsageAnswers, currency: Currency): Share[] {
  const groups = new Map<string, { group: readonly string[]; usage: Decimal; events: number }>();
  for (const { key } of queriesOf(line))
    for (const { group, quantity, event_count } of answers.get(key)!.rows) {
      const id = JSON.stringify(group);
      const known = groups.get(id) ?? { group, usage: decimal('0'), events: 0 };
      groups.set(id, {
        group,
        usage: known.usage.plus(quantity),
        events: known.events + event_count,
      });
    }
  if (groups.size > GROUPS_MAX)
    throw new BillingError(
      'invalid',
      'usage_query_too_large',
      `group_by: a row has more than ${GROUPS_MAX} groups; name fewer properties.`,
      [{ path: 'group_by', code: 'usage_query_too_large', message: 'has too many groups' }],
    );
  const sorted = [...groups.values()].toSorted(
    (one, other) =>
      other.usage.comparedTo(one.usage) ||
      (JSON.stringify(one.group) < JSON.stringify(other.group) ? -1 : 1),
  );
  // A corrected event may leave a group with less than nothing; it has no share of the cost.
  const weights = sorted.map(({ usage }) => (usage.gt(0) ? usage : decimal('0')));
  const total = sum(weights);
  const costs = total.isZero() ? weights : allocate(decimal(line.amount), weights, currency);
  return sorted.map(({ group, usage, events }, index) => ({
    group,
    cost: decimalText(costs[index]!),
    event_count: events,
    percentage: decimalText(
      total.isZero() ? total : weights[index]!.times(100).dividedBy(total).toDecimalPlaces(2),
    ),
    usage: decimalText(usage),
  }));
}

const queriesOf = (line: InvoiceLineRecord) => line.usage_queries as readonly UsageQuery[];
