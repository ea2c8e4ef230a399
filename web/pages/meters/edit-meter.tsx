import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate, useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { useWatch, type UseFormReturn } from 'react-hook-form';
import { mergeFilters } from '../../../domain/metering/merge-filters.ts';
import { answerOf, api, type ApiRecord } from '../../client/api.ts';
import { ButtonLink } from '../../ui/button.tsx';
import { ConfirmDialog } from '../../ui/dialog.tsx';
import { Form, showAtFields, useApiForm } from '../../ui/form.tsx';
import { Card, Columns, Page, Section } from '../../ui/page.tsx';
import { Loaded } from '../../ui/query-state.tsx';
import { notify } from '../../ui/toasts.tsx';
import { bodyOf, EditMeterForm, formOf, isComplete } from './definition.ts';
import { exampleOf } from './bench.tsx';
import { DraftBench } from './draft-bench.tsx';
import { Effect } from './effect.tsx';
import { MeterFields } from './meter-fields.tsx';

type Meter = ApiRecord<'Meter'>;

/** Changes a meter. What the change means for open periods is shown before it is saved. */
export function View() {
  const { id = '' } = useParams({ strict: false }) as { id?: string };
  const meter = useQuery({
    queryKey: ['meter', id],
    queryFn: ({ signal }) =>
      answerOf(api.GET('/meters/{id}', { params: { path: { id } }, signal })),
  });
  return (
    <Page
      title="Edit meter"
      crumbs={[
        { label: 'Meters', to: '/meters' },
        { label: meter.data?.name ?? 'Meter', to: `/meters/${id}` },
      ]}
    >
      <Loaded query={meter} what="the meter">
        {(found) => <Editor meter={found} />}
      </Loaded>
    </Page>
  );
}

function Editor({ meter }: { readonly meter: Meter }) {
  const form = useApiForm(EditMeterForm, formOf(meter)) as UseFormReturn<EditMeterForm>;
  const navigate = useNavigate();
  const queries = useQueryClient();
  const [isAsking, setAsking] = useState(false);
  const values = useWatch({ control: form.control }) as EditMeterForm;
  const { effective_day, ...written } = values;
  const added = bodyOf(written);
  const body = {
    ...added,
    filters: mergeFilters(meter.filters, added.filters ?? []).map(({ key, values: all }) => ({
      key,
      values: [...all],
    })),
  };
  const save = async (): Promise<void> => {
    const { filters, ...changes } = added;
    try {
      await answerOf(
        api.PUT('/meters/{id}', {
          params: { path: { id: meter.id } },
          body: {
            ...changes,
            ...(filters?.length ? { filters } : {}),
            ...(effective_day === '' ? {} : { effective_from: `${effective_day}T00:00:00Z` }),
          },
        }),
      );
    } catch (error) {
      throw showAtFields(form, error as Error);
    }
    await queries.invalidateQueries();
    notify('Meter saved');
    await navigate({ to: `/meters/${meter.id}` });
  };
  return (
    <Columns>
      <Section title="Definition">
        <Card>
          <Form
            form={form}
            submit="Preview change"
            isWide
            secondary={<ButtonLink to={`/meters/${meter.id}`}>Cancel</ButtonLink>}
            onSubmit={async () => setAsking(true)}
          >
            <MeterFields form={form} isEdit />
          </Form>
        </Card>
        <ConfirmDialog
          title="Save this change?"
          confirm="Save meter"
          isOpen={isAsking}
          onClose={() => setAsking(false)}
          onConfirm={save}
        >
          <Effect meter={meter} changed={body} effectiveDay={effective_day} />
        </ConfirmDialog>
      </Section>
      <DraftBench body={isComplete(body) ? body : null} example={exampleOf(meter)} />
    </Columns>
  );
}
