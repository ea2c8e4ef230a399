import { useQueryClient } from '@tanstack/react-query';
import * as z from 'zod';
import { answerOf, api } from '../client/api.ts';
import { FieldRow, TextField } from '../ui/fields.tsx';
import { Form, useApiForm } from '../ui/form.tsx';
import { notify } from '../ui/toasts.tsx';

const needed = (longest: number) => z.string().min(1, 'is required').max(longest);

const Body = z.object({
  name: needed(255),
  bucket: needed(63),
  region: needed(64),
  aws_access_key_id: needed(20_000),
  aws_secret_access_key: needed(20_000),
});

/** Connects a bucket of object storage, into which scheduled exports are written. */
export function ConnectBucket({ onDone }: { readonly onDone: () => void }) {
  const queries = useQueryClient();
  const form = useApiForm(Body, {
    ...{ name: '', bucket: '', region: '', aws_access_key_id: '', aws_secret_access_key: '' },
  });
  const { control } = form;
  return (
    <Form
      form={form}
      submit="Connect bucket"
      onSubmit={async ({ name, bucket, region, ...encrypted_secret_data }) => {
        const sync_config = { s3: { bucket, region } };
        await answerOf(
          api.POST('/connections', {
            body: { name, provider_type: 's3', encrypted_secret_data, sync_config },
          }),
        );
        notify('Bucket connected');
        await queries.invalidateQueries({ queryKey: ['connections'] });
        onDone();
      }}
    >
      <TextField control={control} name="name" label="Name" isRequired autoFocus />
      <FieldRow>
        <TextField control={control} name="bucket" label="Bucket" isRequired />
        <TextField control={control} name="region" label="Region" isRequired />
      </FieldRow>
      <TextField
        control={control}
        name="aws_access_key_id"
        label="Access key id"
        autoComplete="off"
        isRequired
      />
      <TextField
        control={control}
        name="aws_secret_access_key"
        label="Secret access key"
        kind="password"
        autoComplete="off"
        hint="It is encrypted and never shown again."
        isRequired
      />
    </Form>
  );
}
