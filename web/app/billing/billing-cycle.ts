import { formatWord } from '../../ui/text.ts';

/** `Monthly, by the calendar`. */
export const billingCycleInWords = ({
  billing_period,
  billing_cycle,
}: {
  readonly billing_period: string;
  readonly billing_cycle: string;
}): string =>
  `${formatWord(billing_period)}, ${billing_cycle === 'calendar' ? 'by the calendar' : 'counted from its start'}`;
