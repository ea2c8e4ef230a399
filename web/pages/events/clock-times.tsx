import type { UseQueryResult } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ApiRecord } from '../../client/api.ts';
import { presetRange } from '../../app/range.ts';
import { ButtonLink } from '../../ui/button.tsx';
import { Row } from '../../ui/page.tsx';
import { formatDay } from '../../ui/text.ts';
import type { UrlState } from '../../ui/url-state.ts';
import styles from './events.module.css';

type TestClock = ApiRecord<'TestClock'>;
type Clocks = Pick<UseQueryResult<{ readonly items: readonly TestClock[] }>, 'data'>;

/** Clocks that are offered; the others are on their page. */
const OFFERED_MAX = 3;

/**
 * Events of customers on a test clock have the time of the clock. The list without dates shows the seven days
 * before now: the days of a clock outside them are offered here.
 */
export function ClockTimes({ clocks }: { readonly clocks: Clocks }) {
  const away = (clocks.data?.items ?? []).filter(isOutsideOfList);
  if (away.length === 0) return null;
  return (
    <div className={styles.clocks}>
      <Row>
        <span>
          Without dates the list shows the last 7 days. Events of customers on a test clock have the
          time of the clock:
        </span>
        {away.slice(0, OFFERED_MAX).map(({ id, name, now }) => (
          <ButtonLink
            key={id}
            small
            to="."
            search={((before: UrlState) => atTime(before, now)) as never}
            resetScroll={false}
          >
            <span>
              <bdi>{name ?? 'Test clock'}</bdi> ({formatDay(now, 'UTC')})
            </span>
          </ButtonLink>
        ))}
        {away.length > OFFERED_MAX ? <Link to="/test-clocks">All test clocks</Link> : null}
      </Row>
    </div>
  );
}

function isOutsideOfList({ now, status }: TestClock): boolean {
  const at = Date.parse(now);
  const list = presetRange('last_7_days', 'UTC', new Date().toISOString());
  return status !== 'archived' && (at > Date.now() || at < Date.parse(list.start_time));
}

/** The address of the list with the seven days up to the clock's. */
function atTime({ page: _, ...before }: UrlState, now: string): UrlState {
  const { start_time } = presetRange('last_7_days', 'UTC', now);
  return { ...before, from: dayOf(start_time), to: dayOf(now) };
}

const dayOf = (at: string): string => at.slice(0, 'YYYY-MM-DD'.length);
