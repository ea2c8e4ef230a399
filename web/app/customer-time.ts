import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { answerOf, api, type ApiRecord } from '../client/api.ts';
import { Refusal } from '../client/refusal.ts';
import { useMay } from './person.tsx';
import { testClockQuery } from './test-clock-query.ts';

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
  const clock = useQuery({ ...testClockQuery(clockId ?? ''), enabled: isOnClock });
  if (customer === undefined) return undefined;
  return isOnClock && !clock.isError ? clock.data?.now : now;
}

/** The same time, of the customer with that external id; the real time without a customer (an empty id). */
export function useTimeOfExternalId(externalId: string): string | undefined {
  const isNamed = useMay('customer:read') && externalId !== '';
  const found = useQuery({
    queryKey: ['customers-by-external-id', externalId],
    enabled: isNamed,
    queryFn: ({ signal }) =>
      answerOf(
        api.POST('/customers/search', { body: { external_id: externalId, limit: 1 }, signal }),
      ),
  });
  return useCustomerTime(
    !isNamed || found.isError ? null : found.data && (found.data.items[0] ?? null),
  );
}

/** The same time, read once for the query of a list. Throws the refusal if there is no such customer. */
export async function timeOfCustomer(customerId: string, signal: AbortSignal): Promise<string> {
  const customer = await answerOf(
    api.GET('/customers/{id}', { params: { path: { id: customerId } }, signal }),
  );
  const { test_clock_id: id } = customer;
  const now = new Date().toISOString();
  if (id === null) return now;
  const clock = answerOf(api.GET('/test-clocks/{id}', { params: { path: { id } }, signal }));
  return await clock.then(
    (read) => read.now,
    (error: unknown) => {
      if (error instanceof Refusal) return now;
      throw error;
    },
  );
}
