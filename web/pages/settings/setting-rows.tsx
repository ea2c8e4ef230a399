import { Plus, Trash2 } from 'lucide-react';
import { useFieldArray, useWatch, type Control } from 'react-hook-form';
import { Button } from '../../ui/button.tsx';
import { TextField } from '../../ui/fields.tsx';
import { Row } from '../../ui/page.tsx';
import { formatWord } from '../../ui/text.ts';
import type { Field } from './forms/fields.ts';
import { ListProblem, OneField, Part, SettingFields, type FieldsProps } from './setting-fields.tsx';
import { emptyPair, emptyRow } from './values.ts';

interface Items {
  items: Record<string, unknown>[];
}

/** The library needs the name of a list in its type; a setting has its names as values. */
const asItems = (control: Control): Control<Items> => control as unknown as Control<Items>;
const nameOf = (name: string): 'items' => name as 'items';

/** A list of objects, each with its fields. */
export function Rows({
  field: { label, hint, noun, fields, title, isFixed = false },
  name,
  ...place
}: FieldsProps & { readonly field: Extract<Field, { kind: 'rows' }>; readonly name: string }) {
  const list = useFieldArray({ control: asItems(place.control), name: nameOf(name) });
  const held = useWatch({ control: place.control, name }) as readonly Record<string, unknown>[];
  const called = (index: number): string => {
    const words = title === undefined ? undefined : held[index]?.[title];
    return words === undefined || words === ''
      ? `${formatWord(noun)} ${index + 1}`
      : formatWord(String(words));
  };
  return (
    <Part label={label} hint={hint}>
      {list.fields.map(({ id }, index) => (
        <Part key={id} label={called(index)}>
          <SettingFields fields={fields} {...place} at={`${name}.${index}.`} />
          {isFixed || place.isDisabled ? null : (
            <Remove what={called(index)} onPress={() => list.remove(index)} />
          )}
        </Part>
      ))}
      <ListProblem control={place.control} name={name} />
      {isFixed || place.isDisabled ? null : (
        <Add noun={noun} onPress={() => list.append(emptyRow(fields))} />
      )}
    </Part>
  );
}

/** An object whose keys people choose, as a list of keys with values. */
export function Pairs({
  field: { label, hint, noun, key, value },
  name,
  ...place
}: FieldsProps & { readonly field: Extract<Field, { kind: 'pairs' }>; readonly name: string }) {
  const list = useFieldArray({ control: asItems(place.control), name: nameOf(name) });
  return (
    <Part label={label} hint={hint}>
      {list.fields.map(({ id }, index) => {
        const called = `${formatWord(noun)} ${index + 1}`;
        const at = `${name}.${index}.`;
        return (
          <Part key={id} label={called}>
            <TextField
              control={place.control}
              name={`${at}key`}
              isDisabled={place.isDisabled}
              isRequired
              {...key}
            />
            <OneField field={value} {...place} at={at} name={`${at}value`} />
            {place.isDisabled ? null : <Remove what={called} onPress={() => list.remove(index)} />}
          </Part>
        );
      })}
      <ListProblem control={place.control} name={name} />
      {place.isDisabled ? null : (
        <Add noun={noun} onPress={() => list.append({ ...emptyPair(value) })} />
      )}
    </Part>
  );
}

function Add({ noun, onPress }: { readonly noun: string; readonly onPress: () => void }) {
  return (
    <Row>
      <Button small icon={<Plus size={14} aria-hidden />} onPress={onPress}>
        Add a {noun}
      </Button>
    </Row>
  );
}

function Remove({ what, onPress }: { readonly what: string; readonly onPress: () => void }) {
  return (
    <Row>
      <Button small tone="quiet" icon={<Trash2 size={14} aria-hidden />} onPress={onPress}>
        Remove {what}
      </Button>
    </Row>
  );
}
