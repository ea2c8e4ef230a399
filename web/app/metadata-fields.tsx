import { Plus, Trash2 } from 'lucide-react';
import { useFieldArray, type Control } from 'react-hook-form';
import * as z from 'zod';
import { Button } from '../ui/button.tsx';
import { FieldRow, TextField } from '../ui/fields.tsx';
import { Row, Stack } from '../ui/page.tsx';

/** The pairs of `metadata` as a form holds them. No two have the same key. */
export const MetadataRows = z
  .array(z.object({ key: z.string().min(1, 'is required').max(255), value: z.string() }))
  .superRefine((rows, context) => {
    rows.forEach(({ key }, index) => {
      if (rows.findIndex((row) => row.key === key) < index)
        context.addIssue({ code: 'custom', path: [index, 'key'], message: 'is there already' });
    });
  });
type Rows = z.output<typeof MetadataRows>;

export const rowsOf = (metadata: Readonly<Record<string, string>>): Rows =>
  Object.entries(metadata).map(([key, value]) => ({ key, value }));

export const metadataOf = (rows: Rows): Record<string, string> =>
  Object.fromEntries(rows.map(({ key, value }) => [key, value]));

interface WithMetadata {
  metadata: Rows;
}

/** Pairs of a key and a value that the seller chooses. */
export function MetadataFields<Fields extends WithMetadata>({
  control: given,
}: {
  readonly control: Control<Fields>;
}) {
  const control = given as unknown as Control<WithMetadata>;
  const { fields, append, remove } = useFieldArray({ control, name: 'metadata' });
  return (
    <Stack>
      {fields.map((field, index) => (
        <div key={field.id} role="group" aria-label={`Metadata ${index + 1}`}>
          <FieldRow>
            <TextField
              control={control}
              name={`metadata.${index}.key`}
              label={`Key ${index + 1}`}
              isRequired
            />
            <TextField
              control={control}
              name={`metadata.${index}.value`}
              label={`Value ${index + 1}`}
            />
          </FieldRow>
          <Row>
            <Button
              small
              tone="quiet"
              aria-label={`Remove metadata ${index + 1}`}
              icon={<Trash2 size={14} aria-hidden />}
              onPress={() => remove(index)}
            >
              Remove
            </Button>
          </Row>
        </div>
      ))}
      <Row>
        <Button
          small
          icon={<Plus size={14} aria-hidden />}
          onPress={() => append({ key: '', value: '' })}
        >
          Add metadata
        </Button>
      </Row>
    </Stack>
  );
}
