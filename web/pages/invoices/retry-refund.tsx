import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Allowed } from '../../app/person.tsx';
import { answerOf, api, type ApiRecord } from '../../client/api.ts';
import { Button } from '../../ui/button.tsx';
import { ConfirmDialog } from '../../ui/dialog.tsx';
import { Facts } from '../../ui/facts.tsx';
import { Money } from '../../ui/money.tsx';
import { notify } from '../../ui/toasts.tsx';

/** Pays a refund that the gateway did not make into the wallet of the customer. */
export function RetryRefund({ refund }: { readonly refund: ApiRecord<'Refund'> }) {
  const [isOpen, setOpen] = useState(false);
  const queries = useQueryClient();
  return (
    <Allowed to="refund:write">
      <Button small onPress={() => setOpen(true)}>
        Retry
      </Button>
      <ConfirmDialog
        title="Retry this refund?"
        confirm="Pay into the wallet"
        isOpen={isOpen}
        onClose={() => setOpen(false)}
        onConfirm={async () => {
          const params = { path: { id: refund.id } };
          await answerOf(api.POST('/refunds/{id}/retry', { params }));
          notify('Refund paid into the wallet');
          // Not awaited: the button and its dialog are gone with the new rows.
          void queries.invalidateQueries();
        }}
      >
        <Facts
          of={[
            ['Amount', <Money amount={refund.amount} currency={refund.currency} />],
            ['Why it failed', refund.failure_reason ?? ''],
          ]}
        />
        <p>
          The amount is paid into the prepaid wallet of the customer, as credits for coming
          invoices; not to where the payment came from.
        </p>
      </ConfirmDialog>
    </Allowed>
  );
}
