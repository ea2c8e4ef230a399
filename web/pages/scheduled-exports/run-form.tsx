import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useWatch } from 'react-hook-form';
import * as z from 'zod';
import { rangeOf } from '../../app/range.ts';
import { answerOf, api } from '../../client/api.ts';
import { FieldRow, SelectField, TextField } from '../../ui/fields.tsx';
import { Form, useApiForm } from '../../ui/form.tsx';
import { notify } from '../../ui/toasts.tsx';

const Body = z
  .object({
    window: z.enum(['last', 'days']),
    from: z.iso.date('choose a day'),
    to: z.iso.date('choose a day'),
  })
  .refine(({ from, to }) => from <= to, {
    path: ['to'],
    message: 'must not be before the first day',
  });

/** Runs an export once more: its last complete window, or whole days. */
export function RunForm({
  taskId,
  onDone,
}: {
  readonly taskId: string;
  readonly onDone: () => void;
}) {
  const queries = useQueryClient();
  const [now] = useState(() => new Date().toISOString());
  const today = now.slice(0, 10);
  const form = useApiForm(Body, { window: 'last', from: today, to: today });
  const { control } = form;
  const window = useWatch({ control, name: 'window' });
  return (
    <Form
      form={form}
      submit="Run export"
      onSubmit={async ({ window: chosen, from, to }) => {
        const body = chosen === 'last' ? {} : rangeOf(from, to, 'UTC', now);
        const params = { path: { id: taskId } };
        await answerOf(api.POST('/tasks/scheduled/{id}/run', { params, body }));
        notify('The export runs');
        await queries.invalidateQueries({ queryKey: ['scheduled-tasks'] });
        onDone();
      }}
    >
      <SelectField
        control={control}
        name="window"
        label="Export"
        isRequired
        choices={[
          ['last', 'The last complete window'],
          ['days', 'Days that I choose'],
        ]}
      />
      {window === 'days' ? (
        <FieldRow>
          <TextField control={control} name="from" label="First day (UTC)" kind="date" isRequired />
          <TextField control={control} name="to" label="Last day (UTC)" kind="date" isRequired />
        </FieldRow>
      ) : null}
    </Form>
  );
}
