import { useEffect } from 'react';
import { formatMoney } from '../ui/text.ts';
import type { Checkout } from './checkout.ts';
import styles from './checkout.module.css';

interface Ending {
  readonly title: string;
  readonly text: string;
  readonly back: string | null;
}

/** The end of a session: paid, cancelled, expired or failed, and the way back. */
export function Ended({ checkout }: { readonly checkout: Checkout }) {
  const { title, text, back } = endingOf(checkout);
  useEffect(() => {
    document.title = title;
  }, [title]);
  return (
    <div role="status" className={styles.ended} data-status={checkout.checkout_status}>
      <h1 className={styles.title}>{title}</h1>
      <p>{text}</p>
      <p>
        {back === null ? (
          'You can close this page.'
        ) : (
          <a href={back}>Return to {new URL(back).host}</a>
        )}
      </p>
    </div>
  );
}

function endingOf(checkout: Checkout): Ending {
  const { seller, amount, currency, success_url, failure_url, cancel_url } = checkout;
  const again = `Nothing was charged. Ask ${seller.name} for another link to pay.`;
  if (checkout.checkout_status === 'completed')
    return {
      title: 'Paid',
      text: `${seller.name} received ${formatMoney(amount, currency)}.`,
      back: success_url,
    };
  if (checkout.checkout_status === 'failed')
    return {
      title: 'The payment failed',
      text: `What you ordered was not done. If money was taken, it goes back to where it came from. Ask ${seller.name} for another link to pay.`,
      back: failure_url,
    };
  return checkout.is_cancelled
    ? { title: 'The payment was cancelled', text: again, back: cancel_url ?? failure_url }
    : { title: 'The time to pay is over', text: again, back: failure_url };
}
