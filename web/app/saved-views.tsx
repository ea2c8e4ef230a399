import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Bookmark } from 'lucide-react';
import { lazy, Suspense, useState } from 'react';
import { answerOf, api, type ApiRecord } from '../client/api.ts';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { ChoiceFilter } from '../ui/filter-bar.tsx';
import { Awaiting } from '../ui/query-state.tsx';
import { Allowed, useSignedIn } from './person.tsx';

type SavedView = ApiRecord<'SavedView'>;

/** Forms are half of the weight of a page that needs none before a view is saved. */
const SaveView = lazy(async () => ({ default: (await import('./save-view.tsx')).SaveView }));

const VIEWS_MAX = 200;

/** The saved views of a page: one is chosen from a list, the present filters are saved under a name. */
export function SavedViews<Keys extends string>({
  page,
  state,
  defaults,
  onChoose,
}: {
  /** Name of the page in the API. */
  readonly page: string;
  readonly state: Readonly<Record<Keys, string>>;
  readonly defaults: Readonly<Record<Keys, string>>;
  readonly onChoose: (state: Readonly<Record<Keys, string>>) => void;
}) {
  const [isSaving, setSaving] = useState(false);
  const { person } = useSignedIn();
  const cache = useQueryClient();
  const views = useQuery({
    queryKey: ['saved-views', page],
    queryFn: ({ signal }) =>
      answerOf(
        api.POST('/saved-views/search', {
          body: { page, limit: VIEWS_MAX, sort: [{ field: 'name', direction: 'asc' }] },
          signal,
        }),
      ),
  });
  const items = views.data?.items ?? [];
  const query = queryOf(state, defaults);
  const chosen = items.find((view) => view.query === query);
  const remove = useMutation({
    mutationFn: ({ id }: SavedView) =>
      answerOf(api.DELETE('/saved-views/{id}', { params: { path: { id } } })),
    onSuccess: () => cache.invalidateQueries({ queryKey: ['saved-views', page] }),
  });
  return (
    <>
      {items.length === 0 ? null : (
        <ChoiceFilter
          label="View"
          unset="None"
          value={chosen?.id ?? ''}
          choices={items.map((view) => [
            view.id,
            view.user_id === person.id ? view.name : `${view.name} (shared)`,
          ])}
          onChange={(id) =>
            onChoose(
              stateOf(
                items.find((view) => view.id === id),
                defaults,
              ),
            )
          }
        />
      )}
      <Allowed to="saved_view:write">
        {chosen === undefined ? (
          <Button icon={<Bookmark size={14} aria-hidden />} onPress={() => setSaving(true)}>
            Save view
          </Button>
        ) : chosen.user_id === person.id ? (
          <Button isDisabled={remove.isPending} onPress={() => remove.mutate(chosen)}>
            Delete view
          </Button>
        ) : null}
        <Dialog title="Save view" isOpen={isSaving} onClose={() => setSaving(false)}>
          <Suspense fallback={<Awaiting what="the form" />}>
            <SaveView page={page} query={query} onDone={() => setSaving(false)} />
          </Suspense>
        </Dialog>
      </Allowed>
    </>
  );
}

/** What differs from the defaults, in the order of the keys. */
function queryOf<Keys extends string>(
  state: Readonly<Record<Keys, string>>,
  defaults: Readonly<Record<Keys, string>>,
): string {
  const changed = (Object.keys(defaults).sort() as Keys[]).filter(
    (key) => state[key] !== defaults[key],
  );
  return new URLSearchParams(changed.map((key) => [key, state[key]])).toString();
}

function stateOf<Keys extends string>(
  view: SavedView | undefined,
  defaults: Readonly<Record<Keys, string>>,
): Readonly<Record<Keys, string>> {
  const saved = new URLSearchParams(view?.query ?? '');
  return Object.fromEntries(
    Object.entries<string>(defaults).map(([key, value]) => [key, saved.get(key) ?? value]),
  ) as Record<Keys, string>;
}
