import { Day } from '../../ui/time.tsx';

/** The last day of what ends at an instant that no longer belongs to it; a dash without an end. */
export function LastDay({ end, zone }: { readonly end: string | null; readonly zone: string }) {
  return <Day at={end === null ? null : new Date(Date.parse(end) - 1).toISOString()} zone={zone} />;
}
