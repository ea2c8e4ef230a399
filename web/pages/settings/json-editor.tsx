import * as z from 'zod';
import { TextAreaField } from '../../ui/fields.tsx';
import { Form, useApiForm } from '../../ui/form.tsx';

const Json = z.object({
  value: z.string().refine(isObject, 'must be a JSON object, for example {"due_date_days": 14}'),
});

/** A setting as the API has it. */
export function JsonEditor({
  value,
  onSave,
}: {
  readonly value: object;
  readonly onSave: (value: Record<string, unknown>) => Promise<void>;
}) {
  const text = JSON.stringify(value, null, 2);
  const form = useApiForm(Json, { value: text });
  return (
    <Form
      form={form}
      submit="Save setting"
      isWide
      onSubmit={(sent) => onSave(JSON.parse(sent.value) as Record<string, unknown>)}
    >
      <TextAreaField
        control={form.control}
        name="value"
        label="Value"
        isRequired
        rows={Math.min(24, text.split('\n').length + 2)}
        isCode
        hint="Fields that you leave out stay as they are; null restores the default."
      />
    </Form>
  );
}

function isObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}
