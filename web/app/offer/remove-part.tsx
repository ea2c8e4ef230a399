import { useQueryClient } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { Button } from '../../ui/button.tsx';
import { ConfirmDialog } from '../../ui/dialog.tsx';
import { notify } from '../../ui/toasts.tsx';

/** The button that ends or removes one part of an offer, after it was asked for and said what follows. */
export function RemovePart({
  verb,
  noun,
  name,
  done,
  onConfirm,
  children,
}: {
  readonly verb: 'End' | 'Remove';
  /** In lower case: `credit grant`. */
  readonly noun: string;
  /** Of the part, to tell it from the others. */
  readonly name: string;
  /** What is announced afterwards. */
  readonly done: string;
  readonly onConfirm: () => Promise<unknown>;
  /** What follows from it. */
  readonly children: ReactNode;
}) {
  const [isOpen, setOpen] = useState(false);
  const queries = useQueryClient();
  return (
    <>
      <Button small aria-label={`${verb} ${name}`} onPress={() => setOpen(true)}>
        {verb}
      </Button>
      <ConfirmDialog
        title={`${verb} ${name}?`}
        confirm={`${verb} ${noun}`}
        tone="danger"
        isOpen={isOpen}
        onClose={() => setOpen(false)}
        onConfirm={async () => {
          await onConfirm();
          notify(done);
          // Not awaited: the part and its dialog are gone with the new rows.
          void queries.invalidateQueries();
        }}
      >
        {children}
      </ConfirmDialog>
    </>
  );
}
