import { lazy, Suspense, useEffect, useRef, useState } from 'react';
import { askBy } from '../client/session.ts';
import { Dialog } from '../ui/dialog.tsx';
import { Awaiting } from '../ui/query-state.tsx';

const ConfirmPassword = lazy(() =>
  import('./confirm-password.tsx').then((module) => ({ default: module.ConfirmPassword })),
);

/** Asks for the password when a request needs a recent login; the request is then sent again. */
export function ConfirmLogin() {
  const [isOpen, setOpen] = useState(false);
  const waiting = useRef<(isConfirmed: boolean) => void>(() => undefined);
  useEffect(
    () =>
      askBy(
        () =>
          new Promise((resolve) => {
            // A request that waits already is answered: one dialog for one request.
            waiting.current(false);
            waiting.current = resolve;
            setOpen(true);
          }),
      ),
    [],
  );
  const end = (isConfirmed: boolean): void => {
    waiting.current(isConfirmed);
    waiting.current = () => undefined;
    setOpen(false);
  };
  return (
    <Dialog title="Confirm your identity" isOpen={isOpen} onClose={() => end(false)}>
      <Suspense fallback={<Awaiting what="the form" />}>
        <ConfirmPassword onDone={() => end(true)} />
      </Suspense>
    </Dialog>
  );
}
