import { useState } from 'react';
import type { FieldValues } from 'react-hook-form';
import { Button } from './button.tsx';
import { ChoiceList, ChoicesFrame, useChoices, type Choice, type ChoicesFieldProps } from './choices-field.tsx'; // prettier-ignore
import { SearchFilter } from './filter-bar.tsx';
import styles from './form.module.css';

/** Some of many words, in groups. The filter hides choices; it does not change what is chosen. */
export function GroupedChoicesField<Fields extends FieldValues>({
  groupOf,
  noun,
  ...props
}: ChoicesFieldProps<Fields> & {
  /** The name of the group that a word belongs to. */
  readonly groupOf: (word: string) => string;
  /** Plural, in lower case. */
  readonly noun: string;
}) {
  const { label, hint, choices } = props;
  const { error, ...state } = useChoices(props);
  const { chosen, change } = state;
  const [text, setText] = useState('');
  const wanted = text.trim().toLowerCase();
  const shown = choices.filter(([, name]) => name.toLowerCase().includes(wanted));
  return (
    <ChoicesFrame label={label} hint={hint} error={error}>
      <SearchFilter label={`Filter ${noun}`} value={text} onChange={setText} />
      <p role="status" className={styles.hint}>
        {chosen.length} of {choices.length} {noun} chosen
        {wanted === '' ? '' : `, ${shown.length} shown`}
      </p>
      {[...inGroups(shown, groupOf)].map(([group, members]) => {
        const words = members.map(([word]) => word);
        const isWhole = words.every((word) => chosen.includes(word));
        return (
          <div key={group} role="group" aria-label={group} className={styles.choiceGroup}>
            <div className={styles.choiceGroupHead}>
              <span className={styles.label}>{group}</span>
              <Button
                small
                tone="quiet"
                aria-label={`${isWhole ? 'Choose none' : 'Choose all'} of ${group}`}
                onPress={() => change(words, !isWhole)}
              >
                {isWhole ? 'None' : 'All'}
              </Button>
            </div>
            <ChoiceList choices={members} {...state} />
          </div>
        );
      })}
    </ChoicesFrame>
  );
}

/** The choices by group, both in their order. */
function inGroups(
  choices: readonly Choice[],
  groupOf: (word: string) => string,
): ReadonlyMap<string, readonly Choice[]> {
  const groups = new Map<string, Choice[]>();
  for (const choice of choices) {
    const group = groupOf(choice[0]);
    groups.set(group, [...(groups.get(group) ?? []), choice]);
  }
  return groups;
}
