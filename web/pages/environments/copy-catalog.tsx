import { useQueryClient } from '@tanstack/react-query';
import { useWatch } from 'react-hook-form';
import * as z from 'zod';
import { CreateEnvironmentBody } from '../../../schemas/environment.ts';
import { EnvironmentMode, modeOf } from '../../app/environment-mode.tsx';
import { useSignedIn, type Environment } from '../../app/person.tsx';
import { answerOf, api } from '../../client/api.ts';
import { SelectField } from '../../ui/fields.tsx';
import { Form, useApiForm } from '../../ui/form.tsx';
import { notify } from '../../ui/toasts.tsx';
import { EnvironmentFields } from './environment-fields.tsx';

/** What the field of the target has for a new environment. */
const NEW = 'new';

const Body = z
  .object({
    target_environment_id: z.string().min(1, 'choose an environment'),
    name: z.string().max(255),
    type: CreateEnvironmentBody.shape.type,
  })
  .refine(
    ({ target_environment_id, name }) => target_environment_id !== NEW || name.trim() !== '',
    {
      path: ['name'],
      message: 'is required',
    },
  );

/** Copies meters, features, plans and the rest of a catalog into a new environment, or into one that has none. */
export function CopyCatalog({
  source,
  mayCreate,
  onDone,
}: {
  readonly source: Environment;
  readonly mayCreate: boolean;
  readonly onDone: () => void;
}) {
  const queries = useQueryClient();
  const { environments } = useSignedIn();
  const others = environments.filter(({ id }) => id !== source.id);
  const form = useApiForm(Body, {
    target_environment_id: mayCreate ? NEW : '',
    name: '',
    type: 'development',
  });
  const target = useWatch({ control: form.control, name: 'target_environment_id' });
  return (
    <Form
      form={form}
      submit="Copy catalog"
      onSubmit={async ({ target_environment_id, name, type }) => {
        const body = target_environment_id === NEW ? { name, type } : { target_environment_id };
        const params = { path: { id: source.id } };
        await answerOf(api.POST('/environments/{id}/clone', { params, body }));
        await queries.invalidateQueries({ queryKey: ['environments'] });
        notify('Catalog copied');
        onDone();
      }}
    >
      <p>
        Meters, features, plans, addons, prices, coupons and tax rates of{' '}
        <EnvironmentMode of={source} /> <bdi>{source.name}</bdi> are copied. Customers,
        subscriptions, keys and settings are not.
      </p>
      <SelectField
        control={form.control}
        name="target_environment_id"
        label="Copy into"
        hint="An environment that exists must have no catalog yet."
        isRequired
        choices={[
          mayCreate ? ([NEW, 'A new environment'] as const) : (['', 'Choose one'] as const),
          ...others.map((other) => [other.id, `${modeOf(other)}: ${other.name}`] as const),
        ]}
      />
      {target === NEW ? <EnvironmentFields control={form.control} /> : null}
    </Form>
  );
}
