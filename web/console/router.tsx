import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Link,
  type AnyRouter,
} from '@tanstack/react-router';
import { EmptyState, Failure } from '../ui/query-state.tsx';
import { Page } from '../ui/page.tsx';
import { PLAIN_SEARCH } from '../ui/url-state.ts';
import { basePathOf } from '../client/environment.ts';
import { ROUTES } from './routes.ts';
import { Shell } from './shell.tsx';

/** The router of one environment. */
export function createConsoleRouter(environmentId: string): AnyRouter {
  const root = createRootRoute({ component: Shell, notFoundComponent: NoSuchPage });
  const routes = ROUTES.map(({ path, load }) =>
    createRoute({
      getParentRoute: () => root,
      path,
      component: lazyRouteComponent(load, 'View'),
    }),
  );
  return createRouter({
    routeTree: root.addChildren(routes),
    basepath: basePathOf(environmentId),
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
      <EmptyState title="There is nothing at this address" action={<Link to="/">Go to home</Link>}>
        The link may be old, or belong to another environment.
      </EmptyState>
    </Page>
  );
}
