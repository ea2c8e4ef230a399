import type { ReactNode } from 'react';
import { Button as AriaButton } from 'react-aria-components/Button';
import { Menu as AriaMenu, MenuItem, MenuTrigger } from 'react-aria-components/Menu';
import { Popover } from 'react-aria-components/Popover';
import { classNames } from './class-names.ts';
import styles from './menu.module.css';

export interface MenuAction {
  readonly id: string;
  readonly label: ReactNode;
  /** The text by which a label that is not plain text is found when somebody types. */
  readonly text?: string;
  readonly onChoose: () => void;
  readonly isDanger?: boolean;
}

/** A button that opens a list of actions. */
export function Menu({
  label,
  isNamedByText = false,
  button,
  className,
  actions,
}: {
  /** Name of the list. It names the button too, unless the button's own text does. */
  readonly label: string;
  readonly isNamedByText?: boolean;
  readonly button: ReactNode;
  readonly className?: string;
  readonly actions: readonly MenuAction[];
}) {
  return (
    <MenuTrigger>
      <AriaButton
        {...(isNamedByText ? {} : { 'aria-label': label })}
        className={className ?? styles.trigger!}
      >
        {button}
      </AriaButton>
      <Popover className={styles.popover!}>
        <AriaMenu
          aria-label={label}
          className={styles.menu!}
          onAction={(key) => actions.find(({ id }) => id === key)?.onChoose()}
        >
          {actions.map(({ id, label: content, text, isDanger }) => (
            <MenuItem
              key={id}
              id={id}
              className={classNames(styles.item, isDanger && styles.danger)}
              textValue={text ?? (typeof content === 'string' ? content : id)}
            >
              {content}
            </MenuItem>
          ))}
        </AriaMenu>
      </Popover>
    </MenuTrigger>
  );
}
