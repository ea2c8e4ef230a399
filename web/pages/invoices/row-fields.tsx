import { Plus, Trash2 } from 'lucide-react';
import {
  useFieldArray,
  type ArrayPath,
  type Control,
  type FieldPath,
  type FieldValues,
} from 'react-hook-form';
import { Button } from '../../ui/button.tsx';
import { TextField } from '../../ui/fields.tsx';
import { Row } from '../../ui/page.tsx';
import { formatCurrency } from '../../ui/text.ts';
import styles from './rows-form.module.css';

/** A line item that has no value yet. */
export const EMPTY_ROW = { row_id: '', display_name: '', quantity: '1', amount: '' };

/** The line items of an invoice, each with a name, a quantity and its amount; some are added, some removed. */
export function RowFields<Fields extends FieldValues>({
  control,
  path,
  currency,
}: {
  readonly control: Control<Fields>;
  /** Of the list in the form. */
  readonly path: ArrayPath<Fields>;
  readonly currency: string;
}) {
  const { fields, append, remove } = useFieldArray({ control, name: path });
  const nameOf = (index: number, field: string) => `${path}.${index}.${field}` as FieldPath<Fields>;
  return (
    <>
      <ul className={styles.rows} aria-label="Line items">
        {fields.map((field, index) => (
          <li key={field.id}>
            <TextField
              control={control}
              name={nameOf(index, 'display_name')}
              label={`Line item ${index + 1}`}
              isRequired
            />
            <TextField
              control={control}
              name={nameOf(index, 'quantity')}
              label="Quantity"
              kind="decimal"
            />
            <TextField
              control={control}
              name={nameOf(index, 'amount')}
              label={`Amount in ${formatCurrency(currency)}`}
              kind="decimal"
              isRequired
            />
            <Button
              tone="quiet"
              aria-label={`Remove line item ${index + 1}`}
              icon={<Trash2 size={15} aria-hidden />}
              onPress={() => remove(index)}
            />
          </li>
        ))}
      </ul>
      <Row>
        <Button
          small
          icon={<Plus size={14} aria-hidden />}
          onPress={() => append(EMPTY_ROW as never)}
        >
          Add line item
        </Button>
      </Row>
    </>
  );
}
