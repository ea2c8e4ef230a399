import { start } from '../app/start.tsx';
import { EmptyState } from '../ui/query-state.tsx';

start(
  <main>
    <h1 className="visually-hidden">Checkout</h1>
    <EmptyState title="Open the link that you were sent">
      A checkout opens with the whole link that you were sent. A part of it alone does not.
    </EmptyState>
  </main>,
);
