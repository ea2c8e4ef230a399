import type { ApiRecord } from '../../client/api.ts';
import { Section, Stack } from '../../ui/page.tsx';
import { PreviewedInvoice } from './invoice-preview.tsx';

/** The first invoices of a subscription that does not run yet. */
export function StartPreview({
  preview: { opening_invoice: opening, closing_invoice: closing },
}: {
  readonly preview: ApiRecord<'SubscriptionPreview'>;
}) {
  const end =
    closing.billing_reason === 'SUBSCRIPTION_TRIAL_END'
      ? 'invoice at the end of the trial'
      : 'invoice at the end of the first period';
  return (
    <>
      <Section title="The invoice at the start">
        {opening === null ? (
          <p>Nothing is billed at the start.</p>
        ) : (
          <PreviewedInvoice invoice={opening} name="the invoice at the start" />
        )}
      </Section>
      <Section title={`The ${end}`}>
        <Stack>
          <PreviewedInvoice invoice={closing} name={`the ${end}`} />
          <p>Usage is counted as it is now.</p>
        </Stack>
      </Section>
    </>
  );
}
