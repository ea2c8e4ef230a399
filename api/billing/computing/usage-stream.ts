import type { UsageQuery } from '../../../domain/metering/usage.ts';
import { byText } from '../../../domain/text-order.ts';

/**
 * Names the stream of usage that a line reads. Lines with the same filters read one stream, for example the versions of
 * a line (billing 4.6). Usage that a version leaves out in its time, for example in a pause, changes no stream.
 */
export const usageStream = ({ filter_values }: Pick<UsageQuery, 'filter_values'>): string =>
  JSON.stringify(
    Object.entries(filter_values)
      .map(([key, values]) => [key, [...values].sort(byText)] as const)
      .sort(([left], [right]) => byText(left, right)),
  );
