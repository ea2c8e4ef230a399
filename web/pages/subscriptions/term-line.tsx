import type { ApiRecord } from '../../client/api.ts';
import { Day, Period } from '../../ui/time.tsx';
import styles from './term-line.module.css';

type Subscription = ApiRecord<'Subscription'>;

interface Span {
  readonly name: string;
  readonly start: string;
  readonly end: string | null;
  readonly kind: 'running' | 'trial' | 'phase' | 'pause';
}

const WIDTH = 1000;

/** The subscription, its running period, trial, phases and pauses on one line of time each. */
export function TermLine({ subscription }: { readonly subscription: Subscription }) {
  const spans = spansOf(subscription);
  const from = Math.min(...spans.map(({ start }) => Date.parse(start)));
  const to = Math.max(
    ...spans.map(({ start, end }) => Date.parse(end ?? start)),
    Date.parse(subscription.current_period_end),
  );
  const placeOf = (at: string | null): number =>
    at === null ? WIDTH : ((Date.parse(at) - from) / Math.max(to - from, 1)) * WIDTH;
  return (
    <div className={styles.scroll} tabIndex={0} role="region" aria-label="Periods">
      <table className={styles.table}>
        <tbody>
          {spans.map((span, index) => (
            <tr key={index}>
              <th scope="row">{span.name}</th>
              <td className={styles.bars}>
                <svg viewBox={`0 0 ${WIDTH} 10`} preserveAspectRatio="none" aria-hidden="true">
                  <rect
                    data-kind={span.kind}
                    x={placeOf(span.start)}
                    width={Math.max(placeOf(span.end) - placeOf(span.start), 2)}
                    height="10"
                  />
                </svg>
              </td>
              <td>
                {span.end === null ? (
                  <>
                    from <Day at={span.start} zone={subscription.customer_timezone} />, without end
                  </>
                ) : (
                  <Period start={span.start} end={span.end} zone={subscription.customer_timezone} />
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const spansOf = (subscription: Subscription): Span[] => [
  {
    name: 'Subscription',
    start: subscription.start_date,
    end: subscription.end_date ?? subscription.cancel_at,
    kind: 'phase',
  },
  {
    name: 'Current period',
    start: subscription.current_period_start,
    end: subscription.current_period_end,
    kind: 'running',
  },
  ...(subscription.trial_start === null
    ? []
    : [
        {
          name: 'Trial',
          start: subscription.trial_start,
          end: subscription.trial_end,
          kind: 'trial' as const,
        },
      ]),
  ...subscription.phases.map(({ start_date, end_date }, index) => ({
    name: `Phase ${index + 1}`,
    start: start_date,
    end: end_date,
    kind: 'phase' as const,
  })),
  ...subscription.pauses.map(({ pause_start, pause_end, resumed_at, pause_status }) => ({
    name: `Pause, ${pause_status}`,
    start: pause_start,
    end: resumed_at ?? pause_end,
    kind: 'pause' as const,
  })),
];
