import type { Environment } from './person.tsx';
import styles from './environment-mode.module.css';

type Type = Environment['type'];

/** Types of environments with their names in the console: a live one bills customers, a test one nobody. */
export const ENVIRONMENT_MODES: readonly (readonly [Type, string])[] = [
  ['development', 'Test'],
  ['production', 'Live'],
];

export const modeOf = ({ type }: Pick<Environment, 'type'>): string =>
  type === 'production' ? 'Live' : 'Test';

/** Live in red, test in a calm colour. */
export function EnvironmentMode({ of }: { readonly of: Pick<Environment, 'type'> }) {
  return (
    <span className={styles.mode} data-mode={modeOf(of).toLowerCase()}>
      {modeOf(of)}
    </span>
  );
}
