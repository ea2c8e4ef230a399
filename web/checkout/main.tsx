import { takeFragment } from '../app/take-fragment.ts';
import { start } from '../app/start.tsx';
import { CheckoutPage, UnknownLink } from './checkout-page.tsx';

const session_id = location.pathname.split('/')[2] ?? '';
const secret = takeFragment();

start(
  <main>
    {session_id === '' || secret === '' ? (
      <UnknownLink />
    ) : (
      <CheckoutPage link={{ session_id, secret }} />
    )}
  </main>,
);
