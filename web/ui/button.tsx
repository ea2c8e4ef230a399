import {
  Button as AriaButton,
  type ButtonProps as AriaButtonProps,
} from 'react-aria-components/Button';
import { Link, type LinkProps } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { classNames } from './class-names.ts';
import styles from './button.module.css';

/** `primary`: the one main action of a page. `danger`: deletes, voids, ends. */
export type ButtonTone = 'primary' | 'plain' | 'quiet' | 'danger';

interface ButtonProps extends Omit<AriaButtonProps, 'className' | 'children' | 'isPending'> {
  readonly tone?: ButtonTone;
  readonly small?: boolean;
  readonly icon?: ReactNode;
  readonly isPending?: boolean;
  readonly children?: ReactNode;
}

export function Button({ tone = 'plain', small, icon, children, ...props }: ButtonProps) {
  return (
    <AriaButton
      {...props}
      className={classNames(
        styles.button,
        styles[tone],
        small && styles.small,
        !children && styles.square,
      )}
    >
      {icon}
      {children}
    </AriaButton>
  );
}

/** An ordinary link that looks like a button: for what goes to another page. */
export function ButtonLink({
  tone = 'plain',
  small,
  icon,
  children,
  ...props
}: LinkProps & {
  readonly tone?: ButtonTone;
  readonly small?: boolean;
  readonly icon?: ReactNode;
  readonly children?: ReactNode;
}) {
  return (
    <Link {...props} className={classNames(styles.button, styles[tone], small && styles.small)}>
      {icon}
      {children}
    </Link>
  );
}
