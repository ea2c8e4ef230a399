import { useState } from 'react';
import type { PageOutcome } from '../../schemas/checkout-page.ts';
import { answerOf } from '../client/api.ts';
import { linkedApi } from '../client/linked-api.ts';
import { Button } from '../ui/button.tsx';
import { Row } from '../ui/page.tsx';
import { Failure } from '../ui/query-state.tsx';
import { formatMoney } from '../ui/text.ts';
import type { Checkout, CheckoutLink } from './checkout.ts';
import styles from './checkout.module.css';

/** The test gateway: a person chooses what a bank would decide. */
export function TestGateway({
  checkout,
  link,
  onChange,
}: {
  readonly checkout: Checkout;
  readonly link: CheckoutLink;
  readonly onChange: (changed: Checkout) => void;
}) {
  const [busy, setBusy] = useState<PageOutcome | null>(null);
  const [failure, setFailure] = useState<Error | null>(null);
  const [isLost, setLost] = useState(false);
  const choose = async (outcome: PageOutcome): Promise<void> => {
    setBusy(outcome);
    setFailure(null);
    try {
      const body = { ...link, outcome };
      onChange(await answerOf(linkedApi.POST('/checkout/pages/outcome', { body })));
      setLost(outcome === 'timeout');
    } catch (error) {
      setFailure(error as Error);
    } finally {
      setBusy(null);
    }
  };
  // Until the next poll finds the money, the state is that of a payment that was not tried.
  if (isLost && checkout.decline === null)
    return (
      <p role="status">
        The answer of the gateway was lost. This page asks for the outcome; do not pay a second
        time.
      </p>
    );
  const button = (outcome: PageOutcome, text: string, isMain = false) => (
    <Button
      tone={isMain ? 'primary' : 'plain'}
      isDisabled={busy !== null}
      onPress={() => void choose(outcome)}
    >
      {busy === outcome ? `${text} …` : text}
    </Button>
  );
  return (
    <div className={styles.choices}>
      {checkout.needs_confirmation ? (
        <>
          <p role="status">Your bank asks you to confirm this payment.</p>
          <Row>
            {button('success', 'Confirm the payment', true)}
            {button('decline', 'Refuse it')}
          </Row>
        </>
      ) : (
        <>
          {button('success', `Pay ${formatMoney(checkout.amount, checkout.currency)}`, true)}
          <p className={styles.small}>Or try another outcome of the test gateway:</p>
          <Row>
            {button('decline', 'Decline the card')}
            {button('3ds', 'Ask for confirmation (3-D Secure)')}
            {button('timeout', 'Pay, but lose the answer')}
          </Row>
        </>
      )}
      {failure === null ? null : <Failure error={failure} />}
    </div>
  );
}
