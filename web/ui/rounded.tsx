import { useEffect, useRef, useState } from 'react';
import { Button as AriaButton } from 'react-aria-components/Button';
import { Tooltip, TooltipTrigger } from 'react-aria-components/Tooltip';
import styles from './rounded.module.css';

/**
 * A figure that is rounded for reading. It shows the exact one on hover, on focus, and when it is pressed: a finger
 * does not hover. Escape, and a press on anything else, hide it.
 */
export function Rounded({ shown, exact }: { readonly shown: string; readonly exact: string }) {
  const [isOpen, setOpen] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (!isOpen) return;
    const hide = ({ target }: PointerEvent): void => {
      if (!button.current?.contains(target as Node)) setOpen(false);
    };
    addEventListener('pointerdown', hide);
    return () => removeEventListener('pointerdown', hide);
  }, [isOpen]);
  return (
    <TooltipTrigger
      delay={0}
      closeDelay={0}
      isOpen={isOpen}
      onOpenChange={setOpen}
      shouldCloseOnPress={false}
    >
      <AriaButton
        ref={button}
        className={styles.rounded!}
        aria-label={`${shown}, exactly ${exact}`}
        onPress={() => setOpen(true)}
      >
        {shown}
      </AriaButton>
      {/* Only while it is open: the library leaves a closed tooltip in its exit when another one replaced it at once. */}
      {isOpen ? <Tooltip className={styles.exact!}>exactly {exact}</Tooltip> : null}
    </TooltipTrigger>
  );
}
