import type { ApiRecord } from '../../client/api.ts';
import { formatWord } from '../../ui/text.ts';

/** What a meter counts, as a person would say it: `Sum of tokens`, `Count of events`. */
export function inWords({
  aggregation: { type, field, expression },
}: Pick<ApiRecord<'Meter'>, 'aggregation'>): string {
  if (type === 'COUNT') return 'Count of events';
  const what = expression === null || expression === '' ? (field ?? '') : expression;
  return `${formatWord(type)} of ${what}`;
}
