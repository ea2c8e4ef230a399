import * as z from 'zod';
import { answerOf } from '../client/api.ts';
import { portalApi } from '../client/portal-api.ts';
import { CheckboxField, SelectField } from '../ui/fields.tsx';
import { Form, useApiForm } from '../ui/form.tsx';

const Body = z.object({ gateway_method_id: z.string(), is_default: z.boolean() });

/** The test gateway has no cards: the method determines the result of its payments. */
export function AddTestMethod({ onDone }: { readonly onDone: () => Promise<void> }) {
  const form = useApiForm(Body, { gateway_method_id: 'pm_test_success', is_default: true });
  return (
    <Form
      form={form}
      submit="Save method"
      onSubmit={async (values) => {
        await answerOf(
          portalApi.POST('/customer/portal/payment-methods', {
            body: { ...values, payment_provider: 'test' },
          }),
        );
        await onDone();
      }}
    >
      <p>This is a test: no real money moves, and no card is needed.</p>
      <SelectField
        control={form.control}
        name="gateway_method_id"
        label="Result of its payments"
        isRequired
        choices={[
          ['pm_test_success', 'They succeed'],
          ['pm_test_decline', 'They are declined'],
          ['pm_test_3ds', 'The bank asks for confirmation'],
        ]}
      />
      <CheckboxField control={form.control} name="is_default" label="Use as default" />
    </Form>
  );
}
