import { groupBy } from '../group-by.ts';
import { decimal, Decimal, sum, ZERO } from '../money.ts';
import { netAmount } from '../pricing/net-amount.ts';
import type { BilledRow } from '../pricing/credit.ts';
import { byText } from '../text-order.ts';
import type { Period } from '../time/instant.ts';

/** A charge or a credit of a line item for a time, with the exclusive tax on it. Decimal text. */
export interface ServiceRow extends BilledRow {
  /** The change of the subscription that charged or credited it; null for a row of another invoice and for a note. */
  readonly change_id: string | null;
  readonly subscription_line_item_id: string;
  readonly period_start: string;
  readonly period_end: string;
  readonly tax: string;
}

/** What is left of services that changes have linked (money 10.6). */
export interface CreditedService {
  /** Rows with the same key charge linked services. */
  readonly key: string;
  /** The charges less what changes and credit notes have credited. */
  readonly left: Decimal;
  /** The exclusive tax on the charges less what changes have returned. */
  readonly tax_left: Decimal;
  /** What notes have credited. */
  readonly noted: Decimal;
  /** What notes have credited beyond the services of their own rows: it is credited of what replaced them. */
  readonly beyond: Decimal;
}

/**
 * The services of the rows that a change has credited, by line item and instant; null for others (money 10.6). A change
 * links what it credits with what it charges: a fee of 20.00, of which it credits 12.00 and charges 6.00, has 14.00
 * left.
 */
export function creditedServices(
  rows: readonly ServiceRow[],
): (lineItemId: string, at: string) => CreditedService | null {
  const live = rows.filter(({ invoice_status }) => invoice_status !== 'VOIDED');
  const byLine = groupBy(live, (row) => row.subscription_line_item_id);
  const services = [...byLine].flatMap(([line, own]) => servicesOf(line, own));
  const linked = linkedBy(services).flatMap((group) => {
    const credited = creditedOf(group);
    return group.map((service) => ({ ...service, credited }));
  });
  const ofLine = groupBy(linked, ({ line_item_id }) => line_item_id);
  return (id, at) =>
    ofLine.get(id)?.find(({ start, end }) => start <= at && at < end)?.credited ?? null;
}

function creditedOf(group: readonly Service[]): CreditedService | null {
  const rows = group.flatMap((service) => service.rows);
  if (!rows.some(({ kind, change_id }) => kind === 'credit' && change_id !== null)) return null;
  const tax = sum(rows.filter((row) => !isNote(row)).map((row) => decimal(row.tax)));
  return {
    key: `${group[0]!.line_item_id} ${group[0]!.start}`,
    left: Decimal.max(sum(rows.map(amountOf)), ZERO),
    tax_left: Decimal.max(tax, ZERO),
    noted: sum(rows.filter(isNote).map(amountOf)).neg(),
    beyond: sum(group.map((service) => notedBeyond(service.rows))),
  };
}

function notedBeyond(rows: readonly ServiceRow[]): Decimal {
  const left = sum(rows.filter((row) => !isNote(row)).map(amountOf));
  const noted = sum(rows.filter(isNote).map(amountOf)).neg();
  return Decimal.max(noted.minus(Decimal.max(left, ZERO)), ZERO);
}

const isNote = ({ kind, change_id }: ServiceRow): boolean =>
  kind === 'credit' && change_id === null;

const amountOf = (row: ServiceRow): Decimal =>
  row.kind === 'credit' ? decimal(row.amount) : netAmount(row);

/** The rows of a line item for one time of service. */
interface Service extends Period {
  readonly line_item_id: string;
  readonly rows: readonly ServiceRow[];
}

/**
 * Groups the rows of a line item by what they charge or credit: rows of one service overlap. A credit that overlaps
 * none is of the time by which a pause has made the period longer.
 */
function servicesOf(line_item_id: string, rows: readonly ServiceRow[]): Service[] {
  const services: (Service & { end: string; readonly rows: ServiceRow[] })[] = [];
  for (const row of rows.toSorted((a, b) => byText(a.period_start, b.period_start))) {
    const { period_start: start, period_end: end, kind } = row;
    const last = services.at(-1);
    if (last === undefined || (start >= last.end && kind !== 'credit'))
      services.push({ line_item_id, start, end, rows: [row] });
    else {
      last.end = end > last.end ? end : last.end;
      last.rows.push(row);
    }
  }
  return services;
}

/** Groups the services that changes link, directly or by others. The smaller of two groups joins the larger one. */
function linkedBy(services: readonly Service[]): Service[][] {
  const groupOf = new Map(services.map((service) => [service, [service]]));
  const ofChange = new Map<string, Service>();
  for (const service of services)
    for (const { change_id } of service.rows) {
      if (change_id === null) continue;
      const own = groupOf.get(service)!;
      const other = groupOf.get(ofChange.get(change_id) ?? service)!;
      ofChange.set(change_id, service);
      if (own === other) continue;
      const [small, large] = own.length < other.length ? [own, other] : [other, own];
      for (const joining of small) {
        large.push(joining);
        groupOf.set(joining, large);
      }
    }
  return [...new Set(groupOf.values())];
}
