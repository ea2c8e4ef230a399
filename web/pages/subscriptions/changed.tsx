import { PreviewedInvoice } from '../../app/billing/invoice-preview.tsx';
import type { ApiRecord } from '../../client/api.ts';
import { CodeBlock } from '../../ui/code-block.tsx';
import { Money } from '../../ui/money.tsx';
import { Stack } from '../../ui/page.tsx';

/** What a change charges or credits, before it is made: as invoices, and as the API answers it. */
export function Changed({
  resources,
  currency,
}: {
  readonly resources: ApiRecord<'ChangedResources'>;
  readonly currency: string;
}) {
  return (
    <Stack>
      {resources.invoices.length === 0 ? (
        <p>Nothing is charged or credited now; the change shows on the next invoice.</p>
      ) : null}
      {resources.invoices.map((settlement, index) => (
        <div key={index}>
          <p>
            {settlement.action === 'wallet_credit'
              ? 'Credited to the prepaid wallet: '
              : 'An invoice is issued now: '}
            <Money amount={settlement.amount} currency={currency} />
          </p>
          {settlement.invoice === null ? null : <PreviewedInvoice invoice={settlement.invoice} />}
        </div>
      ))}
      <details>
        <summary>As JSON</summary>
        <CodeBlock label="Change as JSON" text={JSON.stringify(resources, null, 2)} />
      </details>
    </Stack>
  );
}
