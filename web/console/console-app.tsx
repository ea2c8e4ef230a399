import { useQuery, useQueryClient } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { lazy, Suspense, useEffect, useMemo, useState } from 'react';
import { answerOf, api } from '../client/api.ts';
import { Awaiting, EmptyState, Failure, Loaded } from '../ui/query-state.tsx';
import {
  basePathOf,
  currentEnvironment,
  rememberedEnvironment,
  rememberEnvironment,
} from '../client/environment.ts';
import { SignedInContext, type Environment, type Person } from '../app/person.tsx';
import { preloadPageAt } from './routes.ts';
import { createConsoleRouter } from './router.tsx';
import { resume, useSession } from '../client/session.ts';
import { formAt, isForEverybody } from './signed-out/paths.ts';

/** Forms are not loaded for those who are signed in. */
const SignedOut = lazy(() =>
  import('./signed-out/signed-out.tsx').then((module) => ({ default: module.SignedOut })),
);

/** The code of the page loads while the session is opened. */
preloadPageAt(location.pathname);

/** The session is opened while the first picture is drawn, not after it. */
const opened = resume();
opened.catch(() => undefined);

/** The console: signed out, a form; signed in, the pages of one environment. */
export function ConsoleApp() {
  const session = useSession();
  const [failure, setFailure] = useState<Error | null>(null);
  const [, setMoves] = useState(0);
  const follow = (opening: Promise<void>): void => {
    setFailure(null);
    opening.catch(setFailure);
  };
  useEffect(() => follow(opened), []);
  const queries = useQueryClient();
  const isOut = session.kind === 'out' || isForEverybody(location.pathname);
  // The next person must not see data of the previous one.
  useEffect(() => (isOut ? queries.clear() : undefined), [isOut, queries]);
  if (failure !== null && session.kind === 'unknown')
    return <Failure error={failure} retry={() => follow(resume())} />;
  if (session.kind === 'unknown') return <Awaiting what="your session" />;
  if (session.kind === 'out' || isOut)
    return (
      <Suspense fallback={<Awaiting what="the form" />}>
        <SignedOut
          hasEnded={session.kind === 'out' && session.hasEnded}
          onMove={() => setMoves((moves) => moves + 1)}
        />
      </Suspense>
    );
  return <Start key={session.session.user_id} />;
}

function Start() {
  const person = useQuery({ queryKey: ['me'], queryFn: () => answerOf(api.GET('/users/me')) });
  const environments = useQuery({
    queryKey: ['environments'],
    queryFn: () =>
      answerOf(api.GET('/environments', { params: { query: { limit: 1000 } } })).then(
        (answer) => answer.environments,
      ),
  });
  return (
    <Loaded query={person} what="your account">
      {(who) => (
        <Loaded query={environments} what="your environments">
          {(all) => <InEnvironment person={who} environments={all} />}
        </Loaded>
      )}
    </Loaded>
  );
}

function InEnvironment({
  person,
  environments,
}: {
  readonly person: Person;
  readonly environments: readonly Environment[];
}) {
  const environment = useMemo(() => chosenOf(environments), [environments]);
  const router = useMemo(
    () => (environment === null ? null : createConsoleRouter(environment.id)),
    [environment?.id],
  );
  if (environment === null || router === null)
    return (
      <EmptyState title="No environment">
        Ask a super admin of your company to give you one.
      </EmptyState>
    );
  return (
    <SignedInContext value={{ person, environments, environment }}>
      <RouterProvider router={router} />
    </SignedInContext>
  );
}

/** The environment of the address, or the one that was open last, or the first one; the address then names it. */
function chosenOf(environments: readonly Environment[]): Environment | null {
  const byId = (id: string | null) => environments.find((environment) => environment.id === id);
  const named = byId(currentEnvironment());
  const chosen = named ?? byId(rememberedEnvironment()) ?? environments.at(-1) ?? null;
  if (chosen === null) return null;
  rememberEnvironment(chosen.id);
  if (named === undefined) {
    const rest =
      formAt(location.pathname) === '/' ? location.pathname.replace(/^\/env\/[^/]*/, '') : '';
    history.replaceState(null, '', basePathOf(chosen.id) + rest + location.search);
  }
  return chosen;
}
