import { postCommand } from '../../app/shell-command.ts';
import { CodeBlock } from '../../ui/code-block.tsx';
import type { UsageQuestion } from './line-events.tsx';

/**
 * A command that counts the quantity of a row again. Empty for rows that one query of the API cannot count: rows with
 * windows or groups, rows of several customers, and rows whose events a more specific price bills in part.
 */
export function CountAgain({
  meterId,
  question,
}: {
  readonly meterId: string;
  readonly question: UsageQuestion;
}) {
  if (!isPlain(question)) return null;
  const { start, end, external_customer_ids, filter_values } = question;
  const body = {
    meter_id: meterId,
    external_customer_id: external_customer_ids[0],
    start_time: start,
    end_time: end,
    ...(Object.keys(filter_values).length === 0 ? {} : { filters: filter_values }),
  };
  return (
    <details>
      <summary>Query to count the quantity again</summary>
      <p>The result includes events that arrived after the invoice was computed.</p>
      <CodeBlock label="Query" text={postCommand('/events/usage/meter', body, 'YOUR_API_KEY')} />
    </details>
  );
}

const isPlain = (question: UsageQuestion): boolean =>
  question.external_customer_ids.length === 1 &&
  question.window == null &&
  question.by_time !== true &&
  [question.group_by, question.excluded_filter_values, question.excluded_during].every(
    (list) => list === undefined || list.length === 0,
  );
