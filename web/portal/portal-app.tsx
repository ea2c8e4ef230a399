import { useQueryClient } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { useEffect, useMemo, useState } from 'react';
import { useBrandColour } from '../app/brand-colour.ts';
import { beginPortal, usePortalState, type PortalState } from '../client/portal-session.ts';
import { SiteName } from '../ui/page.tsx';
import { Awaiting, EmptyState, Failure } from '../ui/query-state.tsx';
import { PortalContext } from './portal.ts';
import { createPortalRouter } from './router.tsx';

/** The portal: with a session the pages of its customer, without one a text that says what to do. */
export function PortalApp({ token }: { readonly token: string | null }) {
  const state = usePortalState();
  const [failure, setFailure] = useState<Error | null>(null);
  const begin = (): void => {
    setFailure(null);
    beginPortal(token).catch(setFailure);
  };
  useEffect(begin, []);
  const queries = useQueryClient();
  const isOut = state.kind === 'out';
  // The next customer must not see data of the previous one.
  useEffect(() => (isOut ? queries.clear() : undefined), [isOut, queries]);
  useBrandColour(state.kind === 'in' ? state.session.seller.accent : null);
  const router = useMemo(() => createPortalRouter(), []);
  if (state.kind === 'in')
    return (
      <PortalContext value={state.session}>
        <SiteName value={state.session.seller.name}>
          <RouterProvider router={router} />
        </SiteName>
      </PortalContext>
    );
  return (
    <main>
      <h1 className="visually-hidden">Customer portal</h1>
      {failure !== null ? (
        <Failure error={failure} retry={begin} />
      ) : state.kind === 'unknown' ? (
        <Awaiting what="the portal" />
      ) : (
        <SignedOut why={state.why} />
      )}
    </main>
  );
}

function SignedOut({ why }: { readonly why: Extract<PortalState, { kind: 'out' }>['why'] }) {
  if (why === 'left')
    return (
      <EmptyState title="You have left the portal">
        This browser no longer opens it. The company that bills you gives you a new link when you
        need one.
      </EmptyState>
    );
  if (why === 'ended')
    return (
      <EmptyState title="This link has expired">
        A link opens the portal for one hour. Open the portal from the site of the company that
        bills you again, or ask it for a new link.
      </EmptyState>
    );
  return (
    <EmptyState title="Open the link that you were sent">
      The portal opens with a link from the company that bills you. The link holds the key to it;
      this address alone does not.
    </EmptyState>
  );
}
