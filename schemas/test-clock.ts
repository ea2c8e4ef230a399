import * as z from 'zod';
import { instant, optionalName, recordFields, time } from './primitives.ts';
import { searchSchemas } from './search.ts';

/** `advancing`: a job moves it. `failed`: it stays at the instant that failed. `archived`: it was deleted. */
export const TEST_CLOCK_STATUSES = ['ready', 'advancing', 'failed', 'archived'] as const;

/** Usage of the clock's customers must be storable, which ends with the year 2298 (billing 22.1). */
const clockTime = time.refine((value) => value < '2200', {
  message: 'must be before the year 2200',
});

export const CreateTestClockBody = z.object({ name: optionalName(), now: clockTime });
export type CreateTestClockBody = z.output<typeof CreateTestClockBody>;

export const AdvanceTestClockBody = z.object({ to: clockTime });

export const TestClock = z
  .object({
    ...recordFields,
    name: z.string().nullable(),
    /** The time of the customers that the clock owns. */
    now: instant,
    status: z.enum(TEST_CLOCK_STATUSES),
    /** Where it is going, or was going when it failed; null when ready. */
    advancing_to: instant.nullable(),
    /** What failed, with the id of the record; null otherwise. */
    error: z.string().nullable(),
  })
  .meta({ id: 'TestClock' });
export type TestClock = z.infer<typeof TestClock>;

export const TestClockSearch = searchSchemas({
  fields: { id: 'text', name: 'text', now: 'time', created_at: 'time', updated_at: 'time' },
  statuses: TEST_CLOCK_STATUSES,
  filters: (kind) => ({ test_clock_ids: kind.list(), name: kind.text() }),
});
