import { start } from '../app/start.tsx';
import { EmptyState } from '../ui/query-state.tsx';

start(
  <main>
    <h1 className="visually-hidden">Customer portal</h1>
    <EmptyState title="Open the link that you were sent">
      The portal opens with a link from the company that bills you. The link holds the key to it;
      this address alone does not.
    </EmptyState>
  </main>,
);
