import type { ReactNode } from 'react';
import { useFormState, type Control } from 'react-hook-form';
import styles from './setting-fields.module.css';

/** Fields that belong together, with what they are called. */
export function Part({
  label,
  hint,
  isList = false,
  children,
}: {
  readonly label: string;
  readonly hint?: string | undefined;
  /** The parts inside are its rows: they have the boxes. */
  readonly isList?: boolean;
  readonly children: ReactNode;
}) {
  return (
    <fieldset className={`${styles.part} ${isList ? styles.list : styles.inside}`}>
      <legend>{label}</legend>
      {children}
      {hint === undefined ? null : <span className={styles.hint}>{hint}</span>}
    </fieldset>
  );
}

/** A problem of a list as a whole, for example that it is empty. */
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
