import type { UsageRow } from '../../domain/metering/usage.ts';
import { groupBy } from '../group-by.ts';
import { rateCharges, type RatedCharge } from '../invoices/rate-charges.ts';
import type { AnalyticsSubject } from './analytics-subjects.ts';

/**
 * The rows that invoices would have for the subjects' charges, by subject: the same function, over
 * answers that were read together. Lines of a subscription are rated together, because those of one
 * meter share its allowance (billing-semantics 4.6).
 */
export function rateSubjects(
  subjects: readonly AnalyticsSubject[],
  rows: ReadonlyMap<string, readonly UsageRow[]>,
): ReadonlyMap<AnalyticsSubject, readonly RatedCharge[]> {
  const answers = new Map([...rows].map(([key, own]) => [key, { key, rows: own }]));
  const sold = subjects.filter(({ line }) => line !== null);
  const subjectOf = new Map(sold.map((subject) => [subject.line!.id, subject]));
  const bySubscription = groupBy(sold, ({ subscription }) => subscription!);
  const rated = [...bySubscription].flatMap(([subscription, own]) =>
    rateCharges(
      { subscription, proration_behavior: subscription.proration_behavior },
      own.flatMap(({ charges }) => charges),
      answers,
    ),
  );
  return groupBy(rated, ({ line }) => subjectOf.get(line.id)!);
}
