import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { Allowed } from '../../app/person.tsx';
import { answerOf, api, type ApiRecord } from '../../client/api.ts';
import { Button } from '../../ui/button.tsx';
import { ConfirmDialog } from '../../ui/dialog.tsx';
import { notify } from '../../ui/toasts.tsx';

/** Archives a group. An archived one stays as it is. */
export function GroupActions({ group }: { readonly group: ApiRecord<'Group'> }) {
  const [isOpen, setOpen] = useState(false);
  const navigate = useNavigate();
  const queries = useQueryClient();
  if (group.status !== 'published') return null;
  return (
    <Allowed to="group:write">
      <Button tone="danger" onPress={() => setOpen(true)}>
        Archive
      </Button>
      <ConfirmDialog
        title="Archive this price group?"
        confirm="Archive price group"
        tone="danger"
        isOpen={isOpen}
        onClose={() => setOpen(false)}
        onConfirm={async () => {
          await answerOf(api.DELETE('/groups/{id}', { params: { path: { id: group.id } } }));
          notify('Price group archived');
          await navigate({ to: '/price-groups' });
          void queries.invalidateQueries();
        }}
      >
        <p>Its prices are in no group any more. Spend alerts of the group count nothing.</p>
      </ConfirmDialog>
    </Allowed>
  );
}
