import { Button, ButtonLink } from '../../ui/button.tsx';
import type { InvoiceLine } from './invoice-document.tsx';
import styles from './invoice-document.module.css';

/** Opens the explanation of a row: in the address of the page if the page keeps it there; shorter on narrow screens. */
export function WhyAmount({
  line,
  open,
}: {
  readonly line: InvoiceLine;
  readonly open: (() => void) | { readonly line: string };
}) {
  const text = (
    <span className={styles.question}>
      Why<span className={styles.longer}> this amount</span>?
    </span>
  );
  const name = `Why this amount? ${line.display_name ?? 'Line item'}`;
  if (typeof open === 'function')
    return (
      <Button small tone="quiet" aria-label={name} onPress={open}>
        {text}
      </Button>
    );
  return (
    <ButtonLink
      small
      tone="quiet"
      to="."
      search={((before: object) => ({ ...before, ...open })) as never}
      replace
      resetScroll={false}
      aria-label={name}
    >
      {text}
    </ButtonLink>
  );
}
