import { useQueryClient } from '@tanstack/react-query';
import { useWatch } from 'react-hook-form';
import * as z from 'zod';
import { answerOf, api, type ApiRecord } from '../../client/api.ts';
import { SelectField, TextField } from '../../ui/fields.tsx';
import { Form, useApiForm } from '../../ui/form.tsx';
import { Time } from '../../ui/time.tsx';
import { STEPS, targetOf } from './targets.ts';

const Body = z
  .object({ step: z.enum(STEPS.map(([id]) => id)), day: z.string() })
  .refine(({ step, day }) => step !== 'other' || day !== '', {
    path: ['day'],
    message: 'choose a day',
  });

/** Moves a clock, with the time that it will show. */
export function AdvanceForm({ clock }: { readonly clock: ApiRecord<'TestClock'> }) {
  const queries = useQueryClient();
  const form = useApiForm(Body, { step: 'month', day: '' });
  const step = useWatch({ control: form.control, name: 'step' });
  const day = useWatch({ control: form.control, name: 'day' });
  const target = targetOf(clock.now, step, day);
  return (
    <Form
      form={form}
      submit="Advance the clock"
      onSubmit={async (values) => {
        const to = targetOf(clock.now, values.step, values.day)!;
        await answerOf(
          api.POST('/test-clocks/{id}/advance', {
            params: { path: { id: clock.id } },
            body: { to },
          }),
        );
        await queries.invalidateQueries({ queryKey: ['test-clocks'] });
      }}
    >
      <SelectField
        control={form.control}
        name="step"
        label="Advance by"
        isRequired
        choices={STEPS}
      />
      {step === 'other' ? (
        <TextField
          control={form.control}
          name="day"
          label="Day"
          kind="date"
          hint="Midnight, UTC; at most five years further."
          isRequired
        />
      ) : null}
      {target === null ? null : (
        <p>
          The clock goes to <Time at={target} />. Everything that is due until then happens to its
          customers, in order and at its time. It cannot go back.
        </p>
      )}
    </Form>
  );
}
