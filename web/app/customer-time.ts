import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { answerOf, api, type ApiRecord } from '../client/api.ts';
import { useMay } from './person.tsx';

/**
 * The time of a customer: that of the test clock for a customer who follows one, otherwise the time when the page was
 * opened, fixed while it is open. It is the real time if the clock cannot be read or the answer has no customer (null).
 * Undefined while the customer or the clock is read.
 */
export function useCustomerTime(
  customer: Pick<ApiRecord<'Customer'>, 'test_clock_id'> | null | undefined,
): string | undefined {
  const mayRead = useMay('testclock:read');
  const [now] = useState(() => new Date().toISOString());
  const clockId = customer?.test_clock_id ?? null;
  const isOnClock = mayRead && clockId !== null;
  const clock = useQuery({
    queryKey: ['test-clocks', clockId],
    enabled: isOnClock,
    queryFn: ({ signal }) =>
      answerOf(api.GET('/test-clocks/{id}', { params: { path: { id: clockId! } }, signal })),
  });
  if (customer === undefined) return undefined;
  return isOnClock && !clock.isError ? clock.data?.now : now;
}
