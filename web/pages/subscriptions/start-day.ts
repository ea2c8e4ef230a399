import { useQuery } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import type { FieldValues, Path, PathValue, UseFormReturn } from 'react-hook-form';
import { localDate } from '../../../domain/time/local-days.ts';
import { answerOf, api, type ApiRecord } from '../../client/api.ts';

/**
 * Fills in the day on which a subscription begins, unless a person has written one: today where the customer is, and
 * by the test clock for a customer who follows one.
 */
export function useStartDay<Fields extends FieldValues & { start_day: string }>(
  form: UseFormReturn<Fields>,
  customer: ApiRecord<'Customer'> | undefined,
): void {
  const [now] = useState(() => new Date().toISOString());
  const filled = useRef('');
  const clockId = customer?.test_clock_id ?? null;
  const clock = useQuery({
    queryKey: ['test-clocks', clockId],
    enabled: clockId !== null,
    queryFn: ({ signal }) =>
      answerOf(api.GET('/test-clocks/{id}', { params: { path: { id: clockId! } }, signal })),
  });
  const time = clockId === null ? now : clock.data?.now;
  const day = time === undefined ? '' : localDate(time, customer?.timezone ?? 'UTC');
  useEffect(() => {
    const name = 'start_day' as Path<Fields>;
    const written: string = form.getValues(name);
    if (day === '' || (written !== '' && written !== filled.current)) return;
    filled.current = day;
    form.setValue(name, day as PathValue<Fields, Path<Fields>>);
  }, [day, form]);
}
