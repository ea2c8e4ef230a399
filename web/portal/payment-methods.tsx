import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { answerOf } from '../client/api.ts';
import { portalApi } from '../client/portal-api.ts';
import { Badge } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { PlainTable } from '../ui/data-table.tsx';
import { ConfirmDialog, Dialog } from '../ui/dialog.tsx';
import { Page, Row } from '../ui/page.tsx';
import { EmptyState, Failure, Loaded } from '../ui/query-state.tsx';
import { Day } from '../ui/time.tsx';
import { notify } from '../ui/toasts.tsx';
import { AddTestMethod } from './add-test-method.tsx';
import { expiryOf, methodInWords } from './methods.ts';
import { useZone } from './portal.ts';
import { gatewaysQuery, methodsQuery, type Method } from './queries.ts';

/** Saved ways to pay: which is charged first, and which can be removed. */
export function View() {
  const queries = useQueryClient();
  const query = useQuery(methodsQuery());
  const gateways = useQuery(gatewaysQuery());
  const [isAdding, setAdding] = useState(false);
  const done = async (text: string): Promise<void> => {
    notify(text);
    await queries.invalidateQueries({ queryKey: methodsQuery().queryKey });
  };
  const isTest = gateways.data?.items.some(({ provider }) => provider === 'test') === true;
  return (
    <Page
      title="Payment methods"
      description="The default method is charged for new invoices. A card that you use on a payment page can be saved there."
      actions={
        isTest ? (
          <Button tone="primary" onPress={() => setAdding(true)}>
            Add a test method
          </Button>
        ) : undefined
      }
    >
      <Loaded query={query} what="your payment methods">
        {({ items }) =>
          items.length === 0 ? (
            <EmptyState title="No payment method is saved">
              A saved method pays invoices at once, without a payment page.
            </EmptyState>
          ) : (
            <Methods methods={items} onDone={done} />
          )
        }
      </Loaded>
      <Dialog title="Add a test method" isOpen={isAdding} onClose={() => setAdding(false)}>
        <AddTestMethod
          onDone={async () => {
            setAdding(false);
            await done('Payment method saved');
          }}
        />
      </Dialog>
    </Page>
  );
}

function Methods({
  methods,
  onDone,
}: {
  readonly methods: readonly Method[];
  readonly onDone: (text: string) => Promise<void>;
}) {
  const zone = useZone();
  const [removed, setRemoved] = useState<Method | null>(null);
  const [failure, setFailure] = useState<Error | null>(null);
  const makeDefault = async ({ id }: Method): Promise<void> => {
    setFailure(null);
    await answerOf(
      portalApi.PUT('/customer/portal/payment-methods/{id}', {
        params: { path: { id } },
        body: { is_default: true },
      }),
    );
    await onDone('Default method changed');
  };
  return (
    <>
      {failure === null ? null : <Failure error={failure} />}
      <PlainTable
        label="Payment methods"
        rows={methods}
        columns={[
          {
            header: 'Method',
            cell: (row) => (
              <Row>
                <bdi>{methodInWords(row)}</bdi>
                {row.is_default ? <Badge tone="positive">Default</Badge> : null}
              </Row>
            ),
          },
          { header: 'Valid until', wideOnly: true, cell: (row) => expiryOf(row) ?? '–' },
          {
            header: 'Saved on',
            wideOnly: true,
            cell: ({ created_at }) => <Day at={created_at} zone={zone} />,
          },
          {
            header: 'Actions',
            align: 'end',
            cell: (row) => (
              <Row>
                {row.is_default ? null : (
                  <Button
                    small
                    aria-label={`Make ${methodInWords(row)} the default`}
                    onPress={() => void makeDefault(row).catch(setFailure)}
                  >
                    Make default
                  </Button>
                )}
                <Button
                  small
                  tone="danger"
                  aria-label={`Remove ${methodInWords(row)}`}
                  onPress={() => setRemoved(row)}
                >
                  Remove
                </Button>
              </Row>
            ),
          },
        ]}
      />
      <ConfirmDialog
        title="Remove the payment method?"
        confirm="Remove"
        tone="danger"
        isOpen={removed !== null}
        onClose={() => setRemoved(null)}
        onConfirm={async () => {
          await answerOf(
            portalApi.DELETE('/customer/portal/payment-methods/{id}', {
              params: { path: { id: removed!.id } },
            }),
          );
          await onDone('Payment method removed');
        }}
      >
        <p>
          {removed === null ? '' : methodInWords(removed)} is no longer charged. Invoices that it
          would have paid stay open until you pay them.
        </p>
      </ConfirmDialog>
    </>
  );
}
