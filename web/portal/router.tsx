import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Link,
  type AnyRouter,
} from '@tanstack/react-router';
import { portalBasePath } from '../client/portal-session.ts';
import { Page } from '../ui/page.tsx';
import { EmptyState, Failure } from '../ui/query-state.tsx';
import { PLAIN_SEARCH } from '../ui/url-state.ts';
import { PORTAL_ROUTES } from './routes.ts';
import { PortalShell } from './portal-shell.tsx';

export function createPortalRouter(): AnyRouter {
  const root = createRootRoute({ component: PortalShell, notFoundComponent: NoSuchPage });
  const routes = PORTAL_ROUTES.map(({ path, load }) =>
    createRoute({
      getParentRoute: () => root,
      path,
      component: lazyRouteComponent(load, 'View'),
    }),
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

function NoSuchPage() {
  return (
    <Page title="No such page">
      <EmptyState title="There is nothing at this address" action={<Link to="/">Overview</Link>}>
        The link may be old. Everything that the portal has is in the menu above.
      </EmptyState>
    </Page>
  );
}
