import { Plus, Trash2 } from 'lucide-react';
import type { ReactNode } from 'react';
import { useFieldArray, useWatch, type Control } from 'react-hook-form';
import { Button } from '../../ui/button.tsx';
import { ChoicesField } from '../../ui/choices-field.tsx';
import {
  CheckboxField,
  FieldRow,
  SelectField,
  TextAreaField,
  TextField,
} from '../../ui/fields.tsx';
import { ImageField } from '../../ui/image-field.tsx';
import { Row } from '../../ui/page.tsx';
import { capitalized, formatWord } from '../../ui/text.ts';
import { TIME_UNITS } from './durations.ts';
import type { Field, Fields } from './forms/fields.ts';
import { ListProblem, Part } from './setting-part.tsx';
import { emptyPair, emptyRow } from './values.ts';

export interface FieldsProps {
  readonly control: Control;
  /** Path of the fields in the form, with a dot at the end: `value.slabs.0.`. */
  readonly at: string;
  readonly isDisabled: boolean;
}

/** The fields of a setting, or of an object inside it. */
export function SettingFields({ fields, ...place }: FieldsProps & { readonly fields: Fields }) {
  return Object.entries(fields).map(([name, field]) => (
    <OneField key={name} field={field} name={`${place.at}${name}`} {...place} />
  ));
}

/** One field, by its kind. */
export function OneField({
  field,
  name,
  ...place
}: FieldsProps & { readonly field: Field; readonly name: string }) {
  if (field.kind === 'kept') return null;
  const { label, hint } = field;
  const own = { control: place.control, name, label, isDisabled: place.isDisabled };
  const shared = hint === undefined ? own : { ...own, hint };
  switch (field.kind) {
    case 'text':
      return field.rows === undefined ? (
        <TextField
          {...shared}
          kind={field.isCurrency === true ? 'currency' : 'text'}
          isRequired={field.isRequired === true}
        />
      ) : (
        <TextAreaField {...shared} rows={field.rows} isCode={field.isCode === true} />
      );
    case 'whole':
    case 'decimal':
      return <TextField {...shared} kind="decimal" isRequired={field.isRequired === true} />;
    case 'switch':
      return <CheckboxField {...shared} />;
    case 'choice':
      return <SelectField {...shared} choices={field.choices} isRequired />;
    case 'lines':
      return <TextAreaField {...shared} rows={4} />;
    case 'image':
      return <ImageField {...shared} />;
    case 'duration':
      return (
        <FieldRow>
          <TextField {...shared} name={`${name}.amount`} kind="decimal" />
          <SelectField
            {...own}
            name={`${name}.unit`}
            label="Unit"
            choices={TIME_UNITS}
            isRequired
          />
        </FieldRow>
      );
    case 'choices':
      return <ChoicesField {...shared} choices={field.choices} />;
    case 'group':
      return <Group field={field} name={name} {...place} />;
    case 'rows':
      return (
        <Where has={field.shownFor} {...place}>
          <Rows field={field} name={name} {...place} />
        </Where>
      );
    case 'pairs':
      return <Pairs field={field} name={name} {...place} />;
  }
}

function Group({
  field,
  name,
  ...place
}: FieldsProps & {
  readonly field: Extract<Field, { kind: 'group' }>;
  readonly name: string;
}) {
  return (
    <Where has={field.only} {...place}>
      <Part label={field.label} hint={field.hint}>
        <SettingFields fields={field.fields} {...place} at={`${name}.`} />
      </Part>
    </Where>
  );
}

/** Shown only where a field beside it has a value, or without a condition. */
function Where({
  has,
  control,
  at,
  children,
}: FieldsProps & {
  readonly has: readonly [field: string, value: string] | undefined;
  readonly children: ReactNode;
}) {
  const decides = useWatch({ control, name: `${at}${has?.[0] ?? ''}` }) as unknown;
  return has === undefined || decides === has[1] ? children : null;
}

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
  /** The name of a row, or what it is with its number. */
  const called = (index: number): string => {
    const words = title === undefined ? undefined : held[index]?.[title];
    return words === undefined || words === '' ? `${noun} ${index + 1}` : formatWord(String(words));
  };
  return (
    <Part label={label} hint={hint} isList>
      {list.fields.map(({ id }, index) => (
        <Part key={id} label={capitalized(called(index))}>
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
  const { isCurrency = false, ...called } = key;
  const list = useFieldArray({ control: asItems(place.control), name: nameOf(name) });
  return (
    <Part label={label} hint={hint} isList>
      {list.fields.map(({ id }, index) => {
        const pair = `${noun} ${index + 1}`;
        const at = `${name}.${index}.`;
        return (
          <Part key={id} label={capitalized(pair)}>
            <TextField
              control={place.control}
              name={`${at}key`}
              isDisabled={place.isDisabled}
              isRequired
              kind={isCurrency ? 'currency' : 'text'}
              {...called}
            />
            <OneField field={value} {...place} at={at} name={`${at}value`} />
            {place.isDisabled ? null : <Remove what={pair} onPress={() => list.remove(index)} />}
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
