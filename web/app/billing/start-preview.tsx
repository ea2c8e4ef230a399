import type { ApiRecord } from '../../client/api.ts';
import { Section } from '../../ui/page.tsx';
import { PreviewedInvoice } from './invoice-preview.tsx';

/** The first invoices of a subscription that does not run yet. */
export function StartPreview({
  preview: { opening_invoice: opening, closing_invoice: closing },
}: {
  readonly preview: ApiRecord<'SubscriptionPreview'>;
}) {
  return (
    <>
      <Section title="The invoice at the start">
        {opening === null ? (
          <p>No fee is billed in advance.</p>
        ) : (
          <PreviewedInvoice invoice={opening} />
        )}
      </Section>
      <Section title="The invoice at the end of the first period">
        <PreviewedInvoice invoice={closing} />
        <p>Usage is counted as it is now.</p>
      </Section>
    </>
  );
}
