import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Plus } from 'lucide-react';
import { contains, text } from '../../app/list/filters.tsx';
import { ListPage, listOf } from '../../app/list/list-page.tsx';
import { Allowed } from '../../app/person.tsx';
import { TermsForm } from '../../app/offer/terms-form.tsx';
import { answerOf, api, type ApiRecord } from '../../client/api.ts';
import { Button } from '../../ui/button.tsx';
import type { Column } from '../../ui/data-table.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { EmptyState } from '../../ui/query-state.tsx';
import { Day } from '../../ui/time.tsx';
import { notify } from '../../ui/toasts.tsx';
import { useUrlState } from '../../ui/url-state.ts';

/** `new` opens the form of a new plan. */
const STATE = { form: '' };

const COLUMNS: readonly Column<ApiRecord<'Plan'>>[] = [
  { header: 'Plan', sort: 'name', cell: ({ name }) => <bdi>{name}</bdi> },
  { header: 'Lookup key', cell: ({ lookup_key }) => (lookup_key === '' ? '–' : <code>{lookup_key}</code>) }, // prettier-ignore
  { header: 'Description', wideOnly: true, cell: ({ description }) => <bdi>{description || '–'}</bdi> }, // prettier-ignore
  { header: 'Created', sort: 'created_at', cell: ({ created_at }) => <Day at={created_at} /> },
];

const PLANS = listOf({
  name: 'plans',
  title: 'Plans',
  filters: [text('q', 'Search by name')],
  search: (paging, { q }, signal) =>
    answerOf(
      api.POST('/plans/search', { body: { ...paging, filters: contains('name', q) }, signal }),
    ),
  columns: COLUMNS,
  file: [
    ['plan', ({ name }) => name],
    ['lookup_key', (row) => row.lookup_key],
    ['description', ({ description }) => description],
    ['created', (row) => row.created_at],
    ['id', ({ id }) => id],
  ],
  rowTo: ({ id }) => `/plans/${id}`,
  unmatched: { title: 'No plan matches', advice: 'Try another part of the name.' },
});

/** Every plan of the catalog. */
export function View() {
  const [{ form }, setState] = useUrlState(STATE);
  const create = (
    <Allowed to="plan:write">
      <Button
        tone="primary"
        icon={<Plus size={14} aria-hidden />}
        onPress={() => setState({ form: 'new' })}
      >
        New plan
      </Button>
    </Allowed>
  );
  return (
    <ListPage
      list={PLANS}
      actions={create}
      empty={
        <EmptyState title="No plans yet" action={create}>
          A plan is a set of prices: fixed fees, and prices of what your meters count.
        </EmptyState>
      }
    >
      <Dialog title="New plan" isOpen={form === 'new'} onClose={() => setState({ form: '' })}>
        <NewPlan />
      </Dialog>
    </ListPage>
  );
}

function NewPlan() {
  const navigate = useNavigate();
  const queries = useQueryClient();
  return (
    <TermsForm
      stored={null}
      exampleKey="pro-2026"
      submit="Create plan"
      onSubmit={async (body) => {
        const plan = await answerOf(api.POST('/plans', { body }));
        notify('Plan created');
        await queries.invalidateQueries();
        await navigate({ to: `/plans/${plan.id}` });
      }}
    />
  );
}
