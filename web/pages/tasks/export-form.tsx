import { useQuery } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import { useWatch } from 'react-hook-form';
import * as z from 'zod';
import { answerOf, api } from '../../client/api.ts';
import { saveFile } from '../../client/download.ts';
import { Button } from '../../ui/button.tsx';
import { FieldRow, SelectField, TextField } from '../../ui/fields.tsx';
import { Form, useApiForm } from '../../ui/form.tsx';
import { notify } from '../../ui/toasts.tsx';
import { exportParts, FORMATS, type Format } from './export-parts.ts';

const METERS_SHOWN = 200;
const DAY_MS = 86_400_000;

const Export = z
  .object({
    what: z.enum(['events', 'usage']),
    meter_id: z.string(),
    from: z.iso.date('choose a day'),
    to: z.iso.date('choose a day'),
    external_customer_id: z.string().max(255),
    format: z.enum(FORMATS),
  })
  .refine(({ from, to }) => from <= to, {
    path: ['to'],
    message: 'must not be before the first day',
  })
  .refine(({ what, meter_id }) => what === 'events' || meter_id !== '', {
    path: ['meter_id'],
    message: 'choose a meter',
  });
type Export = z.output<typeof Export>;

/** Saves events, or the usage of a meter, as one file; with its progress and a way to cancel it. */
export function ExportForm({ onDone }: { readonly onDone: () => void }) {
  const [today] = useState(() => new Date().toISOString().slice(0, 10));
  const [rows, setRows] = useState<number | null>(null);
  const running = useRef<AbortController | null>(null);
  useEffect(() => () => running.current?.abort(), []);
  const form = useApiForm(Export, {
    what: 'events',
    meter_id: '',
    from: today.slice(0, 8) + '01',
    to: today,
    external_customer_id: '',
    format: 'csv',
  });
  const what = useWatch({ control: form.control, name: 'what' });
  const meters = useQuery({
    queryKey: ['meters-to-choose'],
    queryFn: ({ signal }) =>
      answerOf(api.POST('/meters/search', { body: { limit: METERS_SHOWN }, signal })),
  });
  return (
    <Form
      form={form}
      submit="Export"
      secondary={
        rows === null ? undefined : (
          <Button onPress={() => running.current?.abort()}>Cancel the export</Button>
        )
      }
      onSubmit={async (values) => {
        running.current = new AbortController();
        const { signal } = running.current;
        setRows(0);
        try {
          const { path, name } = askedBy(values);
          saveFile(
            await exportParts(path, values.format as Format, { signal, onRows: setRows }),
            `${name}.${values.format}`,
          );
          notify('Export saved');
          onDone();
        } catch (error) {
          if (!signal.aborted) throw error;
        } finally {
          setRows(null);
        }
      }}
    >
      <SelectField
        control={form.control}
        name="what"
        label="Data"
        isRequired
        choices={[
          ['events', 'Events: every accepted copy'],
          ['usage', 'Usage of a meter: a quantity for each customer'],
        ]}
      />
      {what === 'usage' ? (
        <SelectField
          control={form.control}
          name="meter_id"
          label="Meter"
          isRequired
          choices={[
            ['', 'Choose a meter'],
            ...(meters.data?.items ?? []).map(({ id, name }) => [id, name] as const),
          ]}
        />
      ) : null}
      <FieldRow>
        <TextField
          control={form.control}
          name="from"
          label="First day (UTC)"
          kind="date"
          isRequired
        />
        <TextField control={form.control} name="to" label="Last day (UTC)" kind="date" isRequired />
      </FieldRow>
      <TextField
        control={form.control}
        name="external_customer_id"
        label="Customer (external id)"
        hint="Empty: all customers."
      />
      <SelectField
        control={form.control}
        name="format"
        label="Format"
        isRequired
        choices={[
          ['csv', 'CSV: for a spreadsheet'],
          ['jsonl', 'JSON lines: for a program'],
        ]}
      />
      {rows === null ? null : <p role="status">{rows.toLocaleString('en-US')} rows so far …</p>}
    </Form>
  );
}

function askedBy({ what, meter_id, from, to, external_customer_id: customer }: Export) {
  const query = new URLSearchParams({
    start_time: `${from}T00:00:00Z`,
    end_time: new Date(Date.parse(`${to}T00:00:00Z`) + DAY_MS).toISOString(),
    ...(customer.trim() === '' ? {} : { external_customer_id: customer.trim() }),
    ...(what === 'usage' ? { meter_id } : {}),
  });
  return { path: `/${what}/export?${query}`, name: `${what}-${from}-to-${to}` };
}
