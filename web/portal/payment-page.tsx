import { useQuery } from '@tanstack/react-query';
import { useEffect, useRef } from 'react';
import { answerOf } from '../client/api.ts';
import { portalApi } from '../client/portal-api.ts';
import { Button } from '../ui/button.tsx';
import { Row, Stack } from '../ui/page.tsx';
import { Failure } from '../ui/query-state.tsx';
import type { Session } from './queries.ts';
import styles from './payment-page.module.css';

/**
 * A payment page that waits for the customer. It opens in a tab of its own, because no page may frame it; this page
 * asks for its outcome as often as the server says.
 */
export function PaymentPage({
  session: opened,
  onPaid,
  onAgain,
}: {
  readonly session: Session;
  readonly onPaid: () => Promise<void>;
  readonly onAgain: () => void;
}) {
  const link = useRef<HTMLAnchorElement>(null);
  useEffect(() => link.current?.focus(), []);
  const query = useQuery({
    queryKey: ['checkout', opened.id],
    queryFn: ({ signal }) =>
      answerOf(
        portalApi.GET('/customer/portal/checkout/{id}', {
          params: { path: { id: opened.id } },
          signal,
        }),
      ),
    initialData: opened,
    refetchInterval: ({ state }) => state.data?.next_poll_after_ms || false,
    refetchOnWindowFocus: 'always',
  });
  const session = query.data;
  const isPaid = session.checkout_status === 'completed';
  useEffect(() => {
    if (isPaid) void onPaid();
    // Only the outcome itself counts, not a new callback.
  }, [isPaid]);
  if (session.terminal && !isPaid)
    return (
      <Stack>
        <p role="status">The payment page has ended without a payment. Nothing was charged.</p>
        <Row>
          <Button tone="primary" onPress={onAgain}>
            Try again
          </Button>
        </Row>
      </Stack>
    );
  const url = session.payment_action?.url;
  return (
    <Stack>
      <p>You pay on a page of its own. It opens in another tab and is valid for 30 minutes.</p>
      <Row>
        {url === undefined ? null : (
          <a className={styles.open} href={url} target="_blank" rel="noreferrer" ref={link}>
            Open the payment page
          </a>
        )}
      </Row>
      <p role="status" className={styles.waiting}>
        Waiting for the payment. This page shows it as soon as it is there.
      </p>
      {query.isError ? <Failure error={query.error} retry={query.refetch} /> : null}
    </Stack>
  );
}
