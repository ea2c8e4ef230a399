import type { LineItemRow } from '../../../schemas/subscription.ts';

/** The line as the next version of `before` (billing 14.1). */
export const versionOf = <Line extends LineItemRow>(before: LineItemRow, after: Line): Line => ({
  ...after,
  first_line_item_id: firstLineOf(before),
});

/** Id of the first line of those that follow each other: the same for all versions of a line. */
export const firstLineOf = (line: Pick<LineItemRow, 'id' | 'first_line_item_id'>): string =>
  line.first_line_item_id ?? line.id;
