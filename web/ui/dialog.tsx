import { X } from 'lucide-react';
import { useEffect, useRef, useState, type ReactNode } from 'react';
import { Dialog as AriaDialog } from 'react-aria-components/Dialog';
import { Heading } from 'react-aria-components/Heading';
import { Modal, ModalOverlay } from 'react-aria-components/Modal';
import { Button, type ButtonTone } from './button.tsx';
import { classNames } from './class-names.ts';
import { Failure } from './query-state.tsx';
import styles from './dialog.module.css';

/** A dialog over the page. Escape and the cross close it; focus returns to where it was. */
export function Dialog({
  title,
  isOpen,
  onClose,
  isWide = false,
  children,
}: {
  readonly title: string;
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly isWide?: boolean;
  readonly children: ReactNode;
}) {
  return (
    <ModalOverlay
      className={styles.overlay!}
      isOpen={isOpen}
      isDismissable
      onOpenChange={(open) => (open ? undefined : onClose())}
    >
      <Modal className={classNames(styles.modal, isWide && styles.wide)}>
        <AriaDialog className={styles.dialog!}>
          <div className={styles.header}>
            <Heading slot="title" level={2}>
              {title}
            </Heading>
            <Button
              small
              tone="quiet"
              aria-label="Close"
              icon={<X size={16} aria-hidden />}
              onPress={onClose}
            />
          </div>
          <Body>{children}</Body>
        </AriaDialog>
      </Modal>
    </ModalOverlay>
  );
}

/**
 * The content. When the focused element is gone, for example because a result has replaced a form, the dialog
 * gets the focus.
 */
function Body({ children }: { readonly children: ReactNode }) {
  const body = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const element = body.current!;
    const observer = new MutationObserver(() => {
      if (document.activeElement === document.body)
        element.closest<HTMLElement>('[role="dialog"]')?.focus();
    });
    observer.observe(element, { childList: true, subtree: true });
    return () => observer.disconnect();
  }, []);
  return (
    <div ref={body} className={styles.body}>
      {children}
    </div>
  );
}

/**
 * Asks before something is done, and shows what will result: `children` is the preview. A refusal stays in
 * the dialog.
 */
export function ConfirmDialog({
  title,
  confirm,
  tone = 'primary',
  isOpen,
  isReady = true,
  onConfirm,
  onClose,
  children,
}: {
  readonly title: string;
  /** Text of the button: the verb, "Void invoice". */
  readonly confirm: string;
  readonly tone?: ButtonTone;
  readonly isOpen: boolean;
  /** False while the preview is not there yet. */
  readonly isReady?: boolean;
  readonly onConfirm: () => Promise<unknown>;
  readonly onClose: () => void;
  readonly children: ReactNode;
}) {
  const [failure, setFailure] = useState<Error | null>(null);
  const [isBusy, setBusy] = useState(false);
  const close = (): void => {
    setFailure(null);
    onClose();
  };
  const run = async (): Promise<void> => {
    setBusy(true);
    setFailure(null);
    try {
      await onConfirm();
      close();
    } catch (error) {
      setFailure(error as Error);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Dialog title={title} isOpen={isOpen} onClose={close}>
      {children}
      {failure === null ? null : <Failure error={failure} />}
      <div className={styles.buttons}>
        <Button onPress={close}>Cancel</Button>
        <Button tone={tone} isDisabled={isBusy || !isReady} onPress={() => void run()}>
          {isBusy ? `${confirm} …` : confirm}
        </Button>
      </div>
    </Dialog>
  );
}
