import type { ReactNode } from 'react';
import { classNames } from './class-names.ts';
import { formatWord } from './text.ts';
import styles from './badge.module.css';

export type Tone = 'neutral' | 'positive' | 'negative' | 'warning' | 'info';

export function Badge({
  tone = 'neutral',
  children,
}: {
  readonly tone?: Tone;
  readonly children: ReactNode;
}) {
  return <span className={classNames(styles.badge, styles[tone])}>{children}</span>;
}

/** Status words of the API, each with the tone that it has on every page. */
const TONES: Readonly<Record<string, Tone>> = {
  active: 'positive',
  ready: 'positive',
  advancing: 'info',
  published: 'positive',
  paid: 'positive',
  succeeded: 'positive',
  overpaid: 'positive',
  completed: 'positive',
  finalized: 'info',
  trialing: 'info',
  processing: 'info',
  initiated: 'info',
  pending: 'warning',
  draft: 'warning',
  incomplete: 'warning',
  paused: 'warning',
  partially_refunded: 'warning',
  past_due: 'negative',
  unpaid: 'negative',
  failed: 'negative',
  expired: 'negative',
  in_alarm: 'negative',
  warning: 'warning',
  info: 'info',
  ok: 'positive',
};

/** A status word of the API as a badge: `<Status word={invoice.invoice_status} />`. */
export function Status({ word }: { readonly word: string | null }) {
  if (word === null || word === '') return <>–</>;
  return <Badge tone={TONES[word.toLowerCase()] ?? 'neutral'}>{formatWord(word)}</Badge>;
}
