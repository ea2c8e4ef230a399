import { Fragment } from 'react';
import { Dialog } from '../ui/dialog.tsx';
import { SHORTCUTS } from './shortcuts.ts';
import styles from './shortcut-help.module.css';

/** The list of keys, on `?`. */
export function ShortcutHelp({
  isOpen,
  onClose,
}: {
  readonly isOpen: boolean;
  readonly onClose: () => void;
}) {
  return (
    <Dialog title="Keyboard shortcuts" isOpen={isOpen} onClose={onClose}>
      <dl className={styles.keys}>
        {SHORTCUTS.map(([keys, meaning]) => (
          <Fragment key={keys}>
            <dt>
              {keys.split(' ').map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{meaning}</dd>
          </Fragment>
        ))}
      </dl>
    </Dialog>
  );
}
