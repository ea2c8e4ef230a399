import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useWatch } from 'react-hook-form';
import * as z from 'zod';
import { CreateApiKeyBody } from '../../../schemas/tenancy.ts';
import { useSignedIn } from '../../app/person.tsx';
import { answerOf, api } from '../../client/api.ts';
import { SelectField, TextField } from '../../ui/fields.tsx';
import { Form, useApiForm } from '../../ui/form.tsx';
import { SearchField, type Found } from '../../ui/search-field.tsx';
import { ShownOnce } from '../../ui/shown-once.tsx';
import { formatWord } from '../../ui/text.ts';
import { KEY_TYPES } from './key-types.ts';

const SHOWN = 8;

const USES: Readonly<Record<(typeof KEY_TYPES)[number][0], string>> = {
  private_key: 'For your servers, with the permissions of the owner.',
  publishable_key: 'For web pages; it only sends events.',
};

const Body = z
  .object({
    ...CreateApiKeyBody.pick({ name: true, type: true }).shape,
    owner: z.enum(['person', 'service_account']),
    service_account_id: z.string(),
  })
  .refine(({ owner, service_account_id }) => owner === 'person' || service_account_id !== '', {
    path: ['service_account_id'],
    message: 'choose a service account',
  });

/** A key of the person, or, for super admins, of a service account. */
export function CreateKey({ onDone }: { readonly onDone: () => void }) {
  const cache = useQueryClient();
  const { person } = useSignedIn();
  const [made, setMade] = useState<string | null>(null);
  const form = useApiForm(Body, {
    name: '',
    type: 'private_key',
    owner: 'person',
    service_account_id: '',
  });
  const [owner, type] = useWatch({ control: form.control, name: ['owner', 'type'] });
  if (made !== null) return <ShownOnce label="Key" text={made} onDone={onDone} />;
  return (
    <Form
      form={form}
      submit="Create key"
      onSubmit={async ({ name, type, owner: chosen, service_account_id }) => {
        const owned = chosen === 'person' ? {} : { service_account_id };
        const body = { name, type, ...owned };
        const { api_key } = await answerOf(api.POST('/secrets/api/keys', { body }));
        await cache.invalidateQueries({ queryKey: ['api-keys'] });
        setMade(api_key);
      }}
    >
      <TextField
        control={form.control}
        name="name"
        label="Name"
        isRequired
        autoFocus
        hint="What uses it, for example backend."
      />
      <SelectField
        control={form.control}
        name="type"
        label="Type"
        isRequired
        hint={USES[type]}
        choices={KEY_TYPES}
      />
      {person.roles.includes('super_admin') ? (
        <SelectField
          control={form.control}
          name="owner"
          label="Owner"
          isRequired
          hint="Your keys end when you leave; those of a service account do not."
          choices={[
            ['person', 'You'],
            ['service_account', 'A service account'],
          ]}
        />
      ) : null}
      {owner === 'service_account' ? (
        <SearchField
          control={form.control}
          name="service_account_id"
          label="Service account"
          noun="service accounts"
          search={(text, signal) =>
            serviceAccounts(
              text === ''
                ? {}
                : { filters: [{ field: 'name', operator: 'contains', value: { string: text } }] },
              signal,
            )
          }
          find={async (id, signal) => (await serviceAccounts({ user_ids: [id] }, signal))[0]!}
          none="No service account yet. Add one under People."
        />
      ) : null}
    </Form>
  );
}

async function serviceAccounts(filter: object, signal: AbortSignal): Promise<readonly Found[]> {
  const body = { ...filter, type: 'service_account' as const, limit: SHOWN };
  const { items } = await answerOf(api.POST('/users/search', { body, signal }));
  return items.map(({ id, name, roles }) => ({
    id,
    name: name || id,
    detail: roles.map(formatWord).join(', '),
  }));
}
