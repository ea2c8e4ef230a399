import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import * as z from 'zod';
import { MetadataFields, metadataOf, MetadataRows, rowsOf } from '../../app/metadata-fields.tsx';
import { Allowed } from '../../app/person.tsx';
import { answerOf, api, type ApiRecord } from '../../client/api.ts';
import { Button } from '../../ui/button.tsx';
import { ConfirmDialog, Dialog } from '../../ui/dialog.tsx';
import { TextField } from '../../ui/fields.tsx';
import { Form, useApiForm } from '../../ui/form.tsx';
import { notify } from '../../ui/toasts.tsx';

type Coupon = ApiRecord<'Coupon'>;

/** Renames or archives a coupon. An archived one stays as it is. */
export function CouponActions({ coupon }: { readonly coupon: Coupon }) {
  const [open, setOpen] = useState<'edit' | 'archive' | null>(null);
  const navigate = useNavigate();
  const queries = useQueryClient();
  const close = (): void => setOpen(null);
  const path = { params: { path: { id: coupon.id } } };
  if (coupon.status !== 'published') return null;
  return (
    <Allowed to="coupon:write">
      <Button onPress={() => setOpen('edit')}>Edit</Button>
      <Button tone="danger" onPress={() => setOpen('archive')}>
        Archive
      </Button>
      <Dialog title="Edit coupon" isOpen={open === 'edit'} onClose={close}>
        <EditForm coupon={coupon} onDone={close} />
      </Dialog>
      <ConfirmDialog
        title="Archive this coupon?"
        confirm="Archive coupon"
        tone="danger"
        isOpen={open === 'archive'}
        onClose={close}
        onConfirm={async () => {
          await answerOf(api.DELETE('/coupons/{id}', path));
          notify('Coupon archived');
          await queries.invalidateQueries();
          await navigate({ to: '/coupons' });
        }}
      >
        <p>It cannot be redeemed any more. Subscriptions that have it keep their discount.</p>
      </ConfirmDialog>
    </Allowed>
  );
}

const Body = z.object({
  name: z.string().trim().min(1, 'is required').max(255),
  metadata: MetadataRows,
});

/** The discount of a coupon stays as it was created. */
function EditForm({ coupon, onDone }: { readonly coupon: Coupon; readonly onDone: () => void }) {
  const queries = useQueryClient();
  const form = useApiForm(Body, { name: coupon.name, metadata: rowsOf(coupon.metadata) });
  return (
    <Form
      form={form}
      submit="Save coupon"
      onSubmit={async ({ name, metadata }) => {
        await answerOf(
          api.PUT('/coupons/{id}', {
            params: { path: { id: coupon.id } },
            body: { name, metadata: metadataOf(metadata) },
          }),
        );
        await queries.invalidateQueries();
        notify('Coupon saved');
        onDone();
      }}
    >
      <TextField control={form.control} name="name" label="Name" isRequired autoFocus />
      <MetadataFields control={form.control} />
      <p>The discount, the code and the limits stay as they were created.</p>
    </Form>
  );
}
