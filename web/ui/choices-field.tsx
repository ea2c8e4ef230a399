import type { ReactNode } from 'react';
import { Checkbox as AriaCheckbox } from 'react-aria-components/Checkbox';
import { useController, type Control, type FieldPath, type FieldValues } from 'react-hook-form';
import { Check } from 'lucide-react';
import styles from './form.module.css';
import { InParts } from './in-parts.tsx';

/** Value and text of a choice. */
export type Choice = readonly [string, string];

export interface ChoicesFieldProps<Fields extends FieldValues> {
  readonly control: Control<Fields>;
  readonly name: FieldPath<Fields>;
  readonly label: string;
  readonly hint?: string;
  readonly choices: readonly Choice[];
  readonly isDisabled?: boolean;
}

/** What is chosen in a field, and the change of some of its words: a list in the order of the choices. */
export function useChoices<Fields extends FieldValues>({
  control,
  name,
  choices,
}: Pick<ChoicesFieldProps<Fields>, 'control' | 'name' | 'choices'>) {
  const { field, fieldState } = useController({ control, name });
  const chosen: readonly string[] = field.value ?? [];
  const change = (words: readonly string[], isChosen: boolean): void =>
    field.onChange(
      choices
        .map(([one]) => one)
        .filter((one) => (words.includes(one) ? isChosen : chosen.includes(one))),
    );
  return { chosen, change, onBlur: field.onBlur, error: fieldState.error?.message };
}

/** Some of several words: a list, in the order of the choices. */
export function ChoicesField<Fields extends FieldValues>(props: ChoicesFieldProps<Fields>) {
  const { label, hint, choices, isDisabled = false } = props;
  const { error, ...state } = useChoices(props);
  return (
    <ChoicesFrame label={label} hint={hint} error={error}>
      <ChoiceList choices={choices} isDisabled={isDisabled} {...state} />
    </ChoicesFrame>
  );
}

/** The name of the field above its choices, and its error below them. */
export function ChoicesFrame({
  label,
  hint,
  error,
  children,
}: {
  readonly label: string;
  readonly hint: string | undefined;
  readonly error: string | undefined;
  readonly children: ReactNode;
}) {
  return (
    <fieldset className={styles.choices}>
      <legend className={styles.label}>{label}</legend>
      {hint === undefined ? null : <span className={styles.hint}>{hint}</span>}
      {children}
      {error === undefined ? null : <span className={styles.error}>{error}</span>}
    </fieldset>
  );
}

export function ChoiceList({
  choices,
  chosen,
  change,
  onBlur,
  isDisabled = false,
}: {
  readonly choices: readonly Choice[];
  readonly chosen: readonly string[];
  readonly change: (words: readonly string[], isChosen: boolean) => void;
  readonly onBlur: () => void;
  readonly isDisabled?: boolean;
}) {
  return (
    <div className={styles.choiceList}>
      {choices.map(([word, text]) => (
        <AriaCheckbox
          key={word}
          className={styles.checkbox!}
          isSelected={chosen.includes(word)}
          isDisabled={isDisabled}
          onChange={(isChosen) => change([word], isChosen)}
          onBlur={onBlur}
        >
          <span className={styles.box}>
            <Check size={12} strokeWidth={3} aria-hidden />
          </span>
          <span>
            <InParts text={text} />
          </span>
        </AriaCheckbox>
      ))}
    </div>
  );
}
