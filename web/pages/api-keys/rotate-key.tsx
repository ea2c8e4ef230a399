import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import * as z from 'zod';
import { answerOf, api, type ApiRecord } from '../../client/api.ts';
import { SelectField } from '../../ui/fields.tsx';
import { Form, useApiForm } from '../../ui/form.tsx';
import { ShownOnce } from '../../ui/shown-once.tsx';

/** Seconds for which both keys work. */
const OVERLAPS = [
  ['0', 'It ends at once'],
  ['3600', 'It works for one more hour'],
  ['86400', 'It works for one more day'],
  ['604800', 'It works for seven more days'],
  ['2592000', 'It works for 30 more days'],
] as const;

const Body = z.object({ overlap_seconds: z.enum(OVERLAPS.map(([seconds]) => seconds)) });

/** A new key with the name and rights of an old one, which ends now or later. */
export function RotateKey({
  of: key,
  onDone,
}: {
  readonly of: ApiRecord<'ApiKey'>;
  readonly onDone: () => void;
}) {
  const cache = useQueryClient();
  const [made, setMade] = useState<string | null>(null);
  const form = useApiForm(Body, { overlap_seconds: '86400' });
  if (made !== null) return <ShownOnce label="Key" text={made} onDone={onDone} />;
  return (
    <Form
      form={form}
      submit="Rotate key"
      onSubmit={async ({ overlap_seconds }) => {
        const { api_key } = await answerOf(
          api.POST('/secrets/api/keys/{id}/rotate', {
            params: { path: { id: key.id } },
            body: { overlap_seconds: Number(overlap_seconds) },
          }),
        );
        await cache.invalidateQueries({ queryKey: ['api-keys'] });
        setMade(api_key);
      }}
    >
      <p>
        The new key has the name, owner and rights of <strong>{key.name}</strong> (
        <code>{key.display_id}</code>). Keys that the old one made end with it.
      </p>
      <SelectField
        control={form.control}
        name="overlap_seconds"
        label="Old key"
        isRequired
        choices={OVERLAPS}
      />
    </Form>
  );
}
