import { useState, type ReactNode } from 'react';
import { answerOf, api, type ApiRecord } from '../../client/api.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { EntitlementEditor } from './entitlement-editor.tsx';

/** The button that changes what one entitlement gives. */
export function EditEntitlement({
  entitlement,
  name,
  children,
}: {
  readonly entitlement: ApiRecord<'Entitlement'>;
  /** Of its feature, to tell it from the others. */
  readonly name: string;
  /** For whom it changes. */
  readonly children: ReactNode;
}) {
  const [isOpen, setOpen] = useState(false);
  const close = (): void => setOpen(false);
  const params = { path: { id: entitlement.id } };
  return (
    <>
      <Button small aria-label={`Edit ${name}`} onPress={() => setOpen(true)}>
        Edit
      </Button>
      <Dialog title={`Edit ${name}`} isOpen={isOpen} onClose={close}>
        <EntitlementEditor
          entitlement={entitlement}
          save={(body) => answerOf(api.PUT('/entitlements/{id}', { params, body }))}
          onDone={close}
        >
          {children}
        </EntitlementEditor>
      </Dialog>
    </>
  );
}
