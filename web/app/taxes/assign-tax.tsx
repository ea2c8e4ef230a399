import { Plus } from 'lucide-react';
import { lazy, Suspense, useState, type ComponentProps } from 'react';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Awaiting } from '../../ui/query-state.tsx';
import { Allowed } from '../person.tsx';

/** Loaded when it is opened: days in a zone weigh as much as a page. */
const AssignForm = lazy(async () => ({ default: (await import('./assign-form.tsx')).AssignForm }));

/** The button that assigns a tax rate, with its dialog. */
export function AssignTax(known: Omit<ComponentProps<typeof AssignForm>, 'onDone'>) {
  const [isOpen, setOpen] = useState(false);
  return (
    <Allowed to="tax:write">
      <Button small icon={<Plus size={14} aria-hidden />} onPress={() => setOpen(true)}>
        Assign tax
      </Button>
      <Dialog title="Assign tax" isOpen={isOpen} onClose={() => setOpen(false)}>
        <Suspense fallback={<Awaiting what="the form" />}>
          <AssignForm {...known} onDone={() => setOpen(false)} />
        </Suspense>
      </Dialog>
    </Allowed>
  );
}
