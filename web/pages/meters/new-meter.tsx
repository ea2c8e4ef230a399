import { useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useWatch, type UseFormReturn } from 'react-hook-form';
import { answerOf, api } from '../../client/api.ts';
import { ButtonLink } from '../../ui/button.tsx';
import { Form, useApiForm } from '../../ui/form.tsx';
import { Card, Columns, Page, Section } from '../../ui/page.tsx';
import { notify } from '../../ui/toasts.tsx';
import { bodyOf, isComplete, MeterForm, NEW_METER } from './definition.ts';
import { exampleOf } from './bench.tsx';
import { DraftBench } from './draft-bench.tsx';
import { MeterFields } from './meter-fields.tsx';

/** A new meter, next to a bench that tests it before it is saved. */
export function View() {
  const form = useApiForm(MeterForm, NEW_METER) as UseFormReturn<MeterForm>;
  const navigate = useNavigate();
  const queries = useQueryClient();
  return (
    <Page title="New meter" crumbs={[{ label: 'Meters', to: '/meters' }]}>
      <Columns>
        <Section title="Definition">
          <Card>
            <Form
              form={form}
              submit="Create meter"
              isWide
              secondary={<ButtonLink to="/meters">Cancel</ButtonLink>}
              onSubmit={async (values) => {
                const meter = await answerOf(api.POST('/meters', { body: bodyOf(values) }));
                await queries.invalidateQueries({ queryKey: ['meters'] });
                notify(`Meter ${meter.name} created`);
                await navigate({ to: `/meters/${meter.id}` });
              }}
            >
              <MeterFields form={form} />
            </Form>
          </Card>
        </Section>
        <FormBench form={form} />
      </Columns>
    </Page>
  );
}

/** The bench for the meter in the form. */
function FormBench({ form }: { readonly form: UseFormReturn<MeterForm> }) {
  const values = useWatch({ control: form.control }) as MeterForm;
  const body = bodyOf({ ...values, name: values.name === '' ? 'Draft' : values.name });
  return isComplete(body) ? (
    <DraftBench body={body} example={exampleOf(body)} />
  ) : (
    <DraftBench body={null} />
  );
}
