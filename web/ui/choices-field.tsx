import { Fragment, type ReactNode } from 'react';
import { Checkbox as AriaCheckbox } from 'react-aria-components/Checkbox';
import { useController, type Control, type FieldPath, type FieldValues } from 'react-hook-form';
import { Check } from 'lucide-react';
import styles from './form.module.css';

/** `wallet.credit_balance.dropped` may break after a point or a line, not within a word. */
const inParts = (text: string): ReactNode =>
  text.split(/(?<=[._])/).map((part, index) => (
    <Fragment key={index}>
      {part}
      <wbr />
    </Fragment>
  ));

/** Some of several words: a list, in the order of the choices. */
export function ChoicesField<Fields extends FieldValues>({
  control,
  name,
  label,
  hint,
  choices,
  isDisabled = false,
}: {
  readonly control: Control<Fields>;
  readonly name: FieldPath<Fields>;
  readonly label: string;
  readonly hint?: string;
  /** Value and text of each choice. */
  readonly choices: readonly (readonly [string, string])[];
  readonly isDisabled?: boolean;
}) {
  const { field, fieldState } = useController({ control, name });
  const chosen: readonly string[] = field.value ?? [];
  const change = (word: string, isChosen: boolean): void =>
    field.onChange(
      choices.map(([one]) => one).filter((one) => (one === word ? isChosen : chosen.includes(one))),
    );
  return (
    <fieldset className={styles.choices}>
      <legend className={styles.label}>{label}</legend>
      {hint === undefined ? null : <span className={styles.hint}>{hint}</span>}
      <div className={styles.choiceList}>
        {choices.map(([word, text]) => (
          <AriaCheckbox
            key={word}
            className={styles.checkbox!}
            isSelected={chosen.includes(word)}
            isDisabled={isDisabled}
            onChange={(isChosen) => change(word, isChosen)}
            onBlur={field.onBlur}
          >
            <span className={styles.box}>
              <Check size={12} strokeWidth={3} aria-hidden />
            </span>
            <span>{inParts(text)}</span>
          </AriaCheckbox>
        ))}
      </div>
      {fieldState.invalid ? (
        <span className={styles.error}>{fieldState.error?.message}</span>
      ) : null}
    </fieldset>
  );
}
