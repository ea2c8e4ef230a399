import type { ReactNode } from 'react';
import { useWatch, type Control } from 'react-hook-form';
import * as z from 'zod';
import { Refusal } from '../../client/refusal.ts';
import { Form, useApiForm } from '../../ui/form.tsx';
import type { SettingForm } from './forms/fields.ts';
import { Columns } from '../../ui/page.tsx';
import { SettingFields } from './setting-fields.tsx';
import { placeOf, problemsOf, toApi, toForm } from './values.ts';

type Held = Record<string, unknown>;

/** What the fields hold, checked with the schema of the setting. */
const heldBy = (form: SettingForm) =>
  z.object({ value: z.record(z.string(), z.unknown()) }).superRefine(({ value }, context) => {
    for (const { path, message } of problemsOf(form, value))
      context.addIssue({ code: 'custom', path: ['value', ...path], message });
  });

/** A setting as fields. Without `onSave` they can only be read. */
export function SettingEditor({
  form: setting,
  value,
  onSave,
  preview,
}: {
  readonly form: SettingForm;
  readonly value: object;
  readonly onSave?: (value: Held) => Promise<void>;
  /** What the values of the fields look like, beside the form. */
  readonly preview?: (value: Held) => ReactNode;
}) {
  const held = toForm(setting.fields, value as Held);
  const form = useApiForm(heldBy(setting), { value: held });
  const fields = (
    <SettingFields
      fields={setting.fields}
      control={form.control as unknown as Control}
      at="value."
      isDisabled={onSave === undefined}
    />
  );
  if (onSave === undefined) return <>{fields}</>;
  const editor = (
    <Form
      form={form}
      submit="Save setting"
      onSubmit={async ({ value: filled }) => {
        try {
          await onSave(toApi(setting.fields, filled as Held));
        } catch (error) {
          throw atFields(error, setting, filled as Held);
        }
      }}
    >
      {fields}
    </Form>
  );
  if (preview === undefined) return editor;
  return (
    <Columns>
      {editor}
      <Previewed
        of={form.control as unknown as Control<{ value: Held }>}
        fields={setting.fields}
        preview={preview}
      />
    </Columns>
  );
}

function Previewed({
  of,
  fields,
  preview,
}: {
  readonly of: Control<{ value: Held }>;
  readonly fields: SettingForm['fields'];
  readonly preview: (value: Held) => ReactNode;
}) {
  const held = useWatch({ control: of, name: 'value' });
  return <>{preview(toApi(fields, held))}</>;
}

/** A refusal whose details have the paths of the form: `value.min_amount.usd` is a row of it. */
function atFields(error: unknown, { fields }: SettingForm, held: Held): unknown {
  if (!(error instanceof Refusal)) return error;
  const { status, code, message, requestId } = error;
  const details = error.details.map((detail) => {
    const [value, ...path] = (detail.path ?? '').replace(/\[(\d+)\]/g, '.$1').split('.');
    if (value !== 'value' || path.length === 0) return detail;
    const steps = path.map((step) => (/^\d+$/.test(step) ? Number.parseInt(step, 10) : step));
    return { ...detail, path: ['value', ...placeOf(fields, held, steps).path].join('.') };
  });
  return new Refusal(status, {
    code,
    message,
    details,
    ...(requestId === null ? {} : { request_id: requestId }),
  });
}
