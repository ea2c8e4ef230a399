import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Link,
  Navigate,
  type AnyRouter,
} from '@tanstack/react-router';
import type { FunctionComponent } from 'react';
import { portalBasePath } from '../client/portal-session.ts';
import { Page } from '../ui/page.tsx';
import { EmptyState, Failure } from '../ui/query-state.tsx';
import { PLAIN_SEARCH } from '../ui/url-state.ts';
import { usePortal } from './portal.ts';
import { menuOf, PORTAL_ROUTES, type PortalRoute } from './routes.ts';
import { PortalShell } from './portal-shell.tsx';

export function createPortalRouter(): AnyRouter {
  const root = createRootRoute({ component: PortalShell, notFoundComponent: NoSuchPage });
  const routes = PORTAL_ROUTES.map((route) =>
    createRoute({ getParentRoute: () => root, path: route.path, component: shownView(route) }),
  );
  return createRouter({
    routeTree: root.addChildren(routes),
    basepath: portalBasePath(),
    defaultPreload: 'intent',
    scrollRestoration: true,
    ...PLAIN_SEARCH,
    defaultErrorComponent: ({ error }) => (
      <Page title="This page could not be shown">
        <Failure error={error as Error} retry={() => location.reload()} />
      </Page>
    ),
  });
}

type PreloadedView = FunctionComponent & { readonly preload?: () => Promise<void> };

/** The view of a page; nothing of it while the setting hides its section. The start leads to the first page then. */
function shownView({ path, load, section }: PortalRoute) {
  const View = lazyRouteComponent(load, 'View') as PreloadedView;
  if (section === undefined) return View;
  function Shown() {
    const { pages } = usePortal();
    if (pages.some(({ id }) => id === section)) return <View />;
    return path === '/' ? <Navigate to={menuOf(pages)[0]!.path} replace /> : <NoSuchPage />;
  }
  return Object.assign(Shown, { preload: async () => await View.preload?.() });
}

function NoSuchPage() {
  const start = menuOf(usePortal().pages)[0]!;
  return (
    <Page title="No such page">
      <EmptyState
        title="There is nothing at this address"
        action={<Link to={start.path}>{start.label}</Link>}
      >
        The link may be old. Everything that the portal has is in the menu above.
      </EmptyState>
    </Page>
  );
}
