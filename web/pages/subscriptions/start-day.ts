import { useEffect, useRef } from 'react';
import type { FieldValues, Path, PathValue, UseFormReturn } from 'react-hook-form';
import { localDate } from '../../../domain/time/local-days.ts';
import { useCustomerTime } from '../../app/customer-time.ts';
import type { ApiRecord } from '../../client/api.ts';

/**
 * Fills in the day on which a subscription begins, unless a person has written one: today where the customer is, and
 * by the test clock for a customer who follows one.
 */
export function useStartDay<Fields extends FieldValues & { start_day: string }>(
  form: UseFormReturn<Fields>,
  customer: ApiRecord<'Customer'> | undefined,
): void {
  const filled = useRef('');
  const now = useCustomerTime(customer);
  const day = now === undefined ? '' : localDate(now, customer?.timezone ?? 'UTC');
  useEffect(() => {
    const name = 'start_day' as Path<Fields>;
    const written: string = form.getValues(name);
    if (day === '' || (written !== '' && written !== filled.current)) return;
    filled.current = day;
    form.setValue(name, day as PathValue<Fields, Path<Fields>>);
  }, [day, form]);
}
