import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Link,
  type AnyRouter,
  type AsyncRouteComponent,
} from '@tanstack/react-router';
import type { Permission } from '../../domain/access/permissions.ts';
import { useMay } from '../app/person.tsx';
import { EmptyState, Failure } from '../ui/query-state.tsx';
import { Page } from '../ui/page.tsx';
import { PLAIN_SEARCH } from '../ui/url-state.ts';
import { basePathOf } from '../client/environment.ts';
import { ROUTES } from './routes.ts';
import { Shell } from './shell.tsx';

/** The router of one environment. */
export function createConsoleRouter(environmentId: string): AnyRouter {
  const root = createRootRoute({ component: Shell, notFoundComponent: NoSuchPage });
  const routes = ROUTES.map(({ path, load, permission }) =>
    createRoute({
      getParentRoute: () => root,
      path,
      component: allowedFor(permission, lazyRouteComponent(load, 'View')),
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

/** The page for people with the permission; for others, a sentence. The code of the page is preloaded all the same. */
function allowedFor(
  permission: Permission | undefined,
  View: AsyncRouteComponent<object>,
): AsyncRouteComponent<object> {
  if (permission === undefined) return View;
  const Guarded = () => (useMay(permission) ? <View /> : <NotAllowed permission={permission} />);
  return Object.assign(Guarded, { preload: View.preload });
}

function NotAllowed({ permission }: { readonly permission: Permission }) {
  return (
    <Page title="Not allowed">
      <EmptyState title="Your roles do not allow this page" action={<Link to="/">Go to home</Link>}>
        It needs the permission <code>{permission}</code>. Ask a super admin of your company for a
        role that includes it.
      </EmptyState>
    </Page>
  );
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
