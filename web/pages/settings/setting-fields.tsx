import { useFormState, useWatch, type Control } from 'react-hook-form';
import { ChoicesField } from '../../ui/choices-field.tsx';
import { CheckboxField, SelectField, TextAreaField, TextField } from '../../ui/fields.tsx';
import { ImageField } from '../../ui/image-field.tsx';
import type { Field, Fields } from './forms/fields.ts';
import { Pairs, Rows } from './setting-rows.tsx';
import styles from './setting-fields.module.css';

export interface FieldsProps {
  readonly control: Control;
  /** Where the fields stand in the form, with a point at the end: `value.slabs.0.`. */
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
        <TextField {...shared} isRequired={field.isRequired === true} />
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
    case 'choices':
      return <ChoicesField {...shared} choices={field.choices} />;
    case 'group':
      return <Group field={field} name={name} {...place} />;
    case 'rows':
      return <Rows field={field} name={name} {...place} />;
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
  const deciding = field.only?.[0] ?? '';
  const decides = useWatch({ control: place.control, name: `${place.at}${deciding}` }) as unknown;
  if (field.only !== undefined && decides !== field.only[1]) return null;
  return (
    <Part label={field.label} hint={field.hint}>
      <SettingFields fields={field.fields} {...place} at={`${name}.`} />
    </Part>
  );
}

/** Fields that belong together, with what they are called. */
export function Part({
  label,
  hint,
  children,
}: {
  readonly label: string;
  readonly hint?: string | undefined;
  readonly children: React.ReactNode;
}) {
  return (
    <fieldset className={`${styles.part} ${styles.inside}`}>
      <legend>{label}</legend>
      {children}
      {hint === undefined ? null : <span className={styles.hint}>{hint}</span>}
    </fieldset>
  );
}

/** What is wrong with a list as a whole: it is empty, say. */
export function ListProblem({
  control,
  name,
}: {
  readonly control: Control;
  readonly name: string;
}) {
  const { errors } = useFormState({ control });
  const found = name
    .split('.')
    .reduce<unknown>((at, key) => (at as Record<string, unknown> | undefined)?.[key], errors) as
    { message?: unknown; root?: { message?: unknown } } | undefined;
  const message = found?.message ?? found?.root?.message;
  return typeof message === 'string' ? (
    <span className={styles.error} role="alert">
      {message}
    </span>
  ) : null;
}
