import type { PipelineWorld } from '../../support/pipeline-world.ts';
import type { Walker } from './client.ts';
import { WALKED_CUSTOMER } from './walk-customers.ts';

/** Sends events through the edge and asks for them once the stream has passed them. */
export async function walkEvents(
  { walk }: Walker,
  world: PipelineWorld,
  { eventName, meterId }: { readonly eventName: string; readonly meterId: string },
): Promise<void> {
  const event = (n: number) => ({
    eventId: `walk-${n}`,
    eventName,
    externalCustomerId: WALKED_CUSTOMER,
    timestamp: `2026-11-2${n}T10:00:00Z`,
    source: 'walk',
    properties: { n: String(n), region: 'eu' },
  });
  await walk('POST /events', (sdk) => sdk.events.ingestEvent(event(0)));
  await walk('POST /events/bulk', (sdk) => sdk.events.ingestEventsBulk({ events: [event(1)] }));
  await world.settled();

  const range = { startTime: '2026-11-01T00:00:00Z', endTime: '2026-11-22T00:00:00Z' };
  const listed = await walk('POST /events/query', (sdk) =>
    sdk.events.listRawEvents({ eventName, ...range, pageSize: 10 }),
  );
  expect(listed.events?.map(({ id }) => id)).toEqual(['walk-1', 'walk-0']);
  await walk('GET /events/{id}', (sdk) => sdk.events.getEvent('walk-1'));
  const question = { externalCustomerId: WALKED_CUSTOMER, ...range };
  await walk('POST /events/usage', (sdk) =>
    sdk.events.getUsageStatistics({
      ...question, eventName, aggregationType: 'SUM', propertyName: 'n', windowSize: 'DAY',
    }),
  ); // prettier-ignore
  const usage = await walk('POST /events/usage/meter', (sdk) =>
    sdk.events.getUsageByMeter({ ...question, meterId }),
  );
  expect(usage.value).toBe(1);
  await walk('POST /events/analytics', (sdk) =>
    sdk.events.getUsageAnalytics({ ...question, windowSize: 'DAY', groupBy: ['source'] }),
  );
}
