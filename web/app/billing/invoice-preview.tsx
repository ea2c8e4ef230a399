import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { Explanation } from '../../../schemas/explanation.ts';
import { answerOf, api, type ApiRecord } from '../../client/api.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { Loaded } from '../../ui/query-state.tsx';
import { useSignedIn } from '../person.tsx';
import { deductionNames } from './deduction-names.ts';
import { ExplainedLater } from './explained-later.tsx';
import { InvoiceDocument, type InvoiceLine } from './invoice-document.tsx';
import { WhyAmount } from './why-amount.tsx';

/** The invoice of the running period of a subscription, as if the period ended now. */
export function InvoicePreview({ subscriptionId }: { readonly subscriptionId: string }) {
  const query = useQuery({
    queryKey: ['invoice-preview', subscriptionId],
    queryFn: ({ signal }) =>
      answerOf(
        api.POST('/invoices/preview', { body: { subscription_id: subscriptionId }, signal }),
      ),
  });
  return (
    <Loaded query={query} what="the preview of the invoice">
      {(invoice) => <PreviewedInvoice invoice={invoice} />}
    </Loaded>
  );
}

/** An invoice that does not exist yet; its rows carry their explanations. */
export function PreviewedInvoice({
  invoice,
  name,
}: {
  readonly invoice: ApiRecord<'Invoice'>;
  readonly name?: string;
}) {
  const { person } = useSignedIn();
  const [line, setLine] = useState<InvoiceLine | null>(null);
  return (
    <>
      <InvoiceDocument
        invoice={invoice}
        seller={person.tenant.name}
        {...(name === undefined ? {} : { name })}
        explain={(row) =>
          row.explanation === null ? null : <WhyAmount line={row} open={() => setLine(row)} />
        }
      />
      <Dialog
        title={`Why this amount? ${line?.display_name ?? 'Line item'}`}
        isOpen={line !== null}
        onClose={() => setLine(null)}
        isWide
      >
        {line?.explanation == null ? null : (
          <ExplainedLater
            explanation={line.explanation as Explanation}
            zone={invoice.customer?.timezone ?? 'UTC'}
            names={deductionNames(invoice)}
          />
        )}
      </Dialog>
    </>
  );
}
