import { useState } from 'react';
import * as z from 'zod';
import type { ApiRecord } from '../../client/api.ts';
import { CouponField } from '../../app/billing/coupon-field.tsx';
import { Form, useApiForm } from '../../ui/form.tsx';
import { PreviewedChange, previewOf, type PreviewedModification } from './previewed-change.tsx';

const Body = z.object({ coupon_code: z.string().min(1, 'choose a coupon') });

/** Gives a coupon to the whole subscription from now on. */
export function CouponForm({
  subscription,
  onDone,
}: {
  readonly subscription: ApiRecord<'Subscription'>;
  readonly onDone: (text: string) => Promise<void>;
}) {
  const form = useApiForm(Body, { coupon_code: '' });
  const [preview, setPreview] = useState<PreviewedModification | null>(null);
  if (preview !== null)
    return (
      <PreviewedChange
        subscription={subscription}
        preview={preview}
        confirm="Add the coupon"
        onBack={() => setPreview(null)}
        onDone={() => onDone('Coupon added')}
      />
    );
  return (
    <Form
      form={form}
      submit="Preview the change"
      onSubmit={async ({ coupon_code }) => {
        setPreview(
          await previewOf(subscription.id, {
            type: 'coupon',
            coupon_params: { action: 'add', coupon_code },
          }),
        );
      }}
    >
      <CouponField control={form.control} name="coupon_code" by="code" isRequired />
    </Form>
  );
}
