import { useQuery } from '@tanstack/react-query';
import { ExplainedLater } from '../../app/billing/explained-later.tsx';
import type { InvoiceLine } from '../../app/billing/invoice-document.tsx';
import { useMay } from '../../app/person.tsx';
import { answerOf, api, type ApiRecord } from '../../client/api.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { Stack } from '../../ui/page.tsx';
import { EmptyState, Loaded } from '../../ui/query-state.tsx';
import type { Explanation } from '../../../schemas/explanation.ts';
import { deductionNames } from '../../app/billing/deduction-names.ts';
import { CountAgain } from './count-again.tsx';
import { LineEvents, type UsageQuestion } from './line-events.tsx';

/** Wallets of a customer whose names are read. */
const WALLETS_MAX = 100;

/** Why a row has its amount: formula, inputs, tiers, and the events behind it. */
export function WhyDialog({
  invoice,
  line,
  zone,
  onClose,
}: {
  readonly invoice: ApiRecord<'Invoice'>;
  readonly line: InvoiceLine | null;
  readonly zone: string;
  readonly onClose: () => void;
}) {
  return (
    <Dialog
      title={`Why this amount? ${line?.display_name ?? 'Line item'}`}
      isOpen={line !== null}
      onClose={onClose}
      isWide
    >
      {line === null ? null : <Why invoice={invoice} line={line} zone={zone} />}
    </Dialog>
  );
}

function Why({
  invoice,
  line,
  zone,
}: {
  readonly invoice: ApiRecord<'Invoice'>;
  readonly line: InvoiceLine;
  readonly zone: string;
}) {
  const query = useQuery({
    queryKey: ['explanation', invoice.id, line.id],
    queryFn: ({ signal }) =>
      answerOf(
        api.GET('/invoices/{id}/lines/{line_id}/explanation', {
          params: { path: { id: invoice.id, line_id: line.id } },
          signal,
        }),
      ),
  });
  const mayReadWallets = useMay('wallet:read');
  const wallets = useQuery({
    queryKey: ['wallets-named', invoice.customer_id],
    enabled: mayReadWallets,
    queryFn: ({ signal }) =>
      answerOf(
        api.POST('/wallets/search', {
          body: { customer_id: invoice.customer_id, limit: WALLETS_MAX },
          signal,
        }),
      ),
  });
  const names = new Map([
    ...deductionNames(invoice),
    ...(wallets.data?.items ?? []).map(({ id, name }) => [id, name] as const),
  ]);
  return (
    <Loaded query={query} what="the explanation">
      {({ explanation, usage_queries }) => (
        <Stack>
          {explanation === null ? (
            <EmptyState title="Entered manually">
              This amount was entered manually, so there is no calculation to show.
            </EmptyState>
          ) : (
            <ExplainedLater explanation={explanation as Explanation} zone={zone} names={names} />
          )}
          {line.meter_id === null || usage_queries.length === 0 ? null : (
            <>
              {usage_queries.length > 1 ? null : (
                <CountAgain meterId={line.meter_id} question={usage_queries[0] as UsageQuestion} />
              )}
              <LineEvents
                meterId={line.meter_id}
                question={usage_queries[0] as UsageQuestion}
                zone={zone}
              />
            </>
          )}
        </Stack>
      )}
    </Loaded>
  );
}
