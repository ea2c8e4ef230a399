import type { HTMLInputAutoCompleteAttribute, ReactNode } from 'react';
import { Checkbox as AriaCheckbox } from 'react-aria-components/Checkbox';
import { FieldError } from 'react-aria-components/FieldError';
import { Input } from 'react-aria-components/Input';
import { Label } from 'react-aria-components/Label';
import { Text } from 'react-aria-components/Text';
import { TextArea } from 'react-aria-components/TextArea';
import { TextField as AriaTextField } from 'react-aria-components/TextField';
import { useController, type Control, type FieldPath, type FieldValues } from 'react-hook-form';
import { Check } from 'lucide-react';
import { classNames } from './class-names.ts';
import styles from './form.module.css';

interface FieldProps<Fields extends FieldValues> {
  readonly control: Control<Fields>;
  readonly name: FieldPath<Fields>;
  readonly label: string;
  /** What the value is for, or an example. */
  readonly hint?: ReactNode;
  readonly isRequired?: boolean;
  readonly isDisabled?: boolean;
}

/**
 * One line of text. Decimals are text too: `kind="decimal"` keeps every digit that was typed. The code of a currency is
 * shown in capitals, however it was typed or stored.
 */
export function TextField<Fields extends FieldValues>({
  control,
  name,
  label,
  hint,
  isRequired = false,
  isDisabled = false,
  kind = 'text',
  autoComplete,
  placeholder,
  autoFocus,
}: FieldProps<Fields> & {
  readonly kind?: 'text' | 'email' | 'password' | 'decimal' | 'currency' | 'date' | 'url';
  readonly autoComplete?: HTMLInputAutoCompleteAttribute;
  readonly placeholder?: string;
  readonly autoFocus?: boolean;
}) {
  const { field, fieldState } = useController({ control, name });
  return (
    <AriaTextField
      className={styles.field!}
      name={name}
      value={textOf(field.value)}
      onChange={field.onChange}
      onBlur={field.onBlur}
      isInvalid={fieldState.invalid}
      isRequired={isRequired}
      isDisabled={isDisabled}
      validationBehavior="aria"
      type={kind === 'decimal' || kind === 'currency' ? 'text' : kind}
      {...(kind === 'decimal' ? { inputMode: 'decimal' as const } : {})}
      {...(autoComplete === undefined ? {} : { autoComplete })}
      {...(autoFocus === true ? { autoFocus: true } : {})}
    >
      <FieldLabel label={label} isRequired={isRequired} />
      <Input
        ref={field.ref}
        className={classNames(
          styles.input,
          kind === 'decimal' && styles.decimal,
          kind === 'currency' && styles.currency,
        )}
        {...(placeholder === undefined ? {} : { placeholder })}
      />
      <Hint hint={hint} />
      <FieldError className={styles.error!}>{fieldState.error?.message}</FieldError>
    </AriaTextField>
  );
}

/** Several lines of text. */
export function TextAreaField<Fields extends FieldValues>({
  control,
  name,
  label,
  hint,
  isRequired = false,
  isDisabled = false,
  rows = 4,
  isCode = false,
}: FieldProps<Fields> & { readonly rows?: number; readonly isCode?: boolean }) {
  const { field, fieldState } = useController({ control, name });
  return (
    <AriaTextField
      className={styles.field!}
      name={name}
      value={textOf(field.value)}
      onChange={field.onChange}
      onBlur={field.onBlur}
      isInvalid={fieldState.invalid}
      isRequired={isRequired}
      isDisabled={isDisabled}
      validationBehavior="aria"
    >
      <FieldLabel label={label} isRequired={isRequired} />
      <TextArea
        ref={field.ref}
        rows={rows}
        spellCheck={!isCode}
        className={classNames(styles.input, styles.area, isCode && styles.code)}
      />
      <Hint hint={hint} />
      <FieldError className={styles.error!}>{fieldState.error?.message}</FieldError>
    </AriaTextField>
  );
}

/** One of a few values: the browser's own list, which works with every keyboard and on every phone. */
export function SelectField<Fields extends FieldValues>({
  control,
  name,
  label,
  hint,
  isRequired = false,
  isDisabled = false,
  choices,
}: FieldProps<Fields> & {
  /** Value and text of each choice; a choice with the value `''` means unset. */
  readonly choices: readonly (readonly [string, string])[];
}) {
  const { field, fieldState } = useController({ control, name });
  const id = `field-${name}`;
  const described = [
    hint === undefined ? null : `${id}-hint`,
    fieldState.invalid ? `${id}-error` : null,
  ];
  return (
    <div className={styles.field}>
      <label className={styles.label} htmlFor={id}>
        {label}
        {isRequired ? null : <span className={styles.optional}> optional</span>}
      </label>
      <select
        id={id}
        ref={field.ref}
        name={name}
        className={styles.input}
        value={textOf(field.value)}
        disabled={isDisabled}
        required={isRequired}
        aria-invalid={fieldState.invalid}
        aria-describedby={described.filter(Boolean).join(' ') || undefined}
        onChange={(event) => field.onChange(event.target.value)}
        onBlur={field.onBlur}
      >
        {choices.map(([value, text]) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </select>
      {hint === undefined ? null : (
        <span id={`${id}-hint`} className={styles.hint}>
          {hint}
        </span>
      )}
      {fieldState.invalid ? (
        <span id={`${id}-error`} className={styles.error}>
          {fieldState.error?.message}
        </span>
      ) : null}
    </div>
  );
}

export function CheckboxField<Fields extends FieldValues>({
  control,
  name,
  label,
  hint,
  isDisabled = false,
}: Omit<FieldProps<Fields>, 'isRequired'>) {
  const { field } = useController({ control, name });
  return (
    <div className={styles.field}>
      <AriaCheckbox
        className={styles.checkbox!}
        name={name}
        isSelected={field.value === true}
        isDisabled={isDisabled}
        onChange={field.onChange}
        onBlur={field.onBlur}
      >
        <span className={styles.box}>
          <Check size={12} strokeWidth={3} aria-hidden />
        </span>
        {label}
      </AriaCheckbox>
      {hint === undefined ? null : <span className={styles.hint}>{hint}</span>}
    </div>
  );
}

/** Fields that belong together, side by side where there is room. */
export function FieldRow({ children }: { readonly children: ReactNode }) {
  return <div className={styles.fieldRow}>{children}</div>;
}

function FieldLabel({
  label,
  isRequired,
}: {
  readonly label: string;
  readonly isRequired: boolean;
}) {
  return (
    <Label className={styles.label!}>
      {label}
      {isRequired ? null : <span className={styles.optional}> optional</span>}
    </Label>
  );
}

function Hint({ hint }: { readonly hint: ReactNode }) {
  if (hint === undefined) return null;
  return (
    <Text slot="description" className={styles.hint!}>
      {hint}
    </Text>
  );
}

const textOf = (value: unknown): string =>
  value === undefined || value === null ? '' : String(value);
