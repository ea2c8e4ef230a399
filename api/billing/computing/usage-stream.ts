import type { UsageQuery } from '../../../domain/metering/usage.ts';
import { byText } from '../../../domain/text-order.ts';

/**
 * The stream of usage that a line reads: lines with the same filters, as the versions of one line that follow each
 * other, read one stream (billing 4.6). What a version leaves out in its time, as usage of pauses, does not matter.
 */
export const usageStream = ({ filter_values }: Pick<UsageQuery, 'filter_values'>): string =>
  JSON.stringify(
    Object.entries(filter_values)
      .map(([key, values]) => [key, [...values].sort(byText)] as const)
      .sort(([left], [right]) => byText(left, right)),
  );
