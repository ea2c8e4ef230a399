import { Button as AriaButton } from 'react-aria-components/Button';
import { Tooltip, TooltipTrigger } from 'react-aria-components/Tooltip';
import styles from './rounded.module.css';

/** A figure that is rounded for reading; it shows the exact one on hover and on focus. */
export function Rounded({ shown, exact }: { readonly shown: string; readonly exact: string }) {
  return (
    <TooltipTrigger delay={0} closeDelay={0}>
      <AriaButton className={styles.rounded!} aria-label={`${shown}, exactly ${exact}`}>
        {shown}
      </AriaButton>
      <Tooltip className={styles.exact!}>exactly {exact}</Tooltip>
    </TooltipTrigger>
  );
}
