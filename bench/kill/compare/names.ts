import { thousandths } from '../ledger.ts';
import { ask, differs, ofEach, type Comparison } from './comparison.ts';

/** Usage by event name: raw events, without meters. */
export const names: Comparison = {
  name: 'names',
  differences: ({ tree, totals, period }) =>
    ofEach(totals, async ([external_customer_id, { count, sum }]) => {
      const found: string[] = [];
      for (const [type, expected] of [
        ['COUNT', String(count)],
        ['SUM', thousandths(sum)],
      ] as const) {
        const answer = await ask<{ value: number | null }>(tree, {
          method: 'POST',
          path: '/events/usage',
          body: {
            event_name: 'kill.sample',
            aggregation_type: type,
            ...(type === 'SUM' ? { property_name: 'value' } : {}),
            external_customer_id,
            start_time: period.start,
            end_time: period.end,
          },
        });
        found.push(
          ...differs(`${type} by name of ${external_customer_id}`, answer.value, expected),
        );
      }
      return found;
    }),
};
