import { Check, ChevronsUpDown } from 'lucide-react';
import { Menu } from '../ui/menu.tsx';
import { basePathOf, rememberEnvironment } from '../client/environment.ts';
import { EnvironmentMode } from '../app/environment-mode.tsx';
import { useSignedIn } from '../app/person.tsx';
import styles from './environment-switch.module.css';

/**
 * The environment, live in red and test in a calm colour. Changing it loads the console again, so that nothing
 * of the other environment stays on the screen or in memory.
 */
export function EnvironmentSwitch() {
  const { environments, environment, person } = useSignedIn();
  const open = (id: string): void => {
    rememberEnvironment(id);
    location.assign(basePathOf(id));
  };
  return (
    <Menu
      label="Environment"
      isNamedByText
      className={styles.button!}
      button={
        <>
          <span className={styles.names}>
            <span className={styles.tenant}>{person.tenant.name}</span>
            <span className={styles.name}>
              <EnvironmentMode of={environment} /> {environment.name}
            </span>
          </span>
          <ChevronsUpDown size={14} aria-label="Change environment" />
        </>
      }
      actions={environments.map((other) => ({
        id: other.id,
        text: other.name,
        label: (
          <>
            <EnvironmentMode of={other} />
            <span className={styles.choice}>{other.name}</span>
            {other.id === environment.id ? <Check size={14} aria-label="current" /> : null}
          </>
        ),
        onChoose: () => open(other.id),
      }))}
    />
  );
}
