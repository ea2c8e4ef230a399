import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { answerOf, api, type ApiRecord } from '../../client/api.ts';
import { Button } from '../../ui/button.tsx';
import { PlainTable } from '../../ui/data-table.tsx';
import { Loaded } from '../../ui/query-state.tsx';
import styles from './events.module.css';

type Event = ApiRecord<'Event'>;

/** Maximum number of meters that are tested; nobody reads a longer list. */
const METERS_MAX = 50;

/** Shows why the other meters did not match. */
export function OtherMeters({
  event,
  matched,
}: {
  readonly event: Event;
  readonly matched: readonly string[];
}) {
  const [isAsked, setAsked] = useState(false);
  const others = useQuery({
    queryKey: ['event', event.id, 'other-meters'],
    queryFn: () => misses(event, matched),
    enabled: isAsked,
  });
  if (!isAsked)
    return (
      <div className={styles.after}>
        <Button small onPress={() => setAsked(true)}>
          Why not other meters?
        </Button>
      </div>
    );
  return (
    <div className={styles.after}>
      <Loaded query={others} what="the other meters">
        {(rows) =>
          rows.length === 0 ? (
            <p className={styles.note}>There is no other meter.</p>
          ) : (
            <PlainTable
              label="Meters that do not match"
              rows={rows}
              rowTo={({ id }) => `/meters/${id}`}
              columns={[
                { header: 'Meter', cell: ({ name }) => name },
                { header: 'Why it does not count the event', cell: ({ why }) => why },
              ]}
            />
          )
        }
      </Loaded>
    </div>
  );
}

async function misses(event: Event, matched: readonly string[]) {
  const { items } = await answerOf(
    api.POST('/meters/search', { body: { limit: METERS_MAX, status: 'published' } }),
  );
  const asked = items.filter(({ id }) => !matched.includes(id));
  return await Promise.all(
    asked.map(async ({ id, name }) => {
      const result = await answerOf(
        api.POST('/meters/{id}/test', { params: { path: { id } }, body: { event: asSent(event) } }),
      );
      return { id, name, why: result.message ?? 'It was created later, or changed since.' };
    }),
  );
}

const asSent = ({ id, event_name, external_customer_id, timestamp, properties }: Event) => ({
  event_id: id,
  event_name,
  external_customer_id,
  timestamp,
  properties: properties ?? {},
});
