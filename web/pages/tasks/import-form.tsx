import { useState, type ReactNode } from 'react';
import { answerOf, api, type ApiRecord } from '../../client/api.ts';
import { fileAnswer } from '../../client/download.ts';
import { Button } from '../../ui/button.tsx';
import { Row, Stack } from '../../ui/page.tsx';
import { Failure } from '../../ui/query-state.tsx';
import { notify } from '../../ui/toasts.tsx';

/** Sends a file of events and begins its import. */
export function ImportForm({ onDone }: { readonly onDone: () => Promise<unknown> }): ReactNode {
  const [file, setFile] = useState<File | null>(null);
  const [isSending, setSending] = useState(false);
  const [failure, setFailure] = useState<Error | null>(null);
  const send = async (chosen: File): Promise<void> => {
    setSending(true);
    setFailure(null);
    try {
      const { upload_id } = await upload(chosen);
      const body = { upload_id, file_provider: 'csvbox', file_name: chosen.name } as const;
      await answerOf(api.POST('/tasks', { body }));
      notify('The import has begun');
      await onDone();
    } catch (error) {
      setFailure(error as Error);
    } finally {
      setSending(false);
    }
  };
  return (
    <Stack>
      <p>
        A CSV file with the columns <code>event_name</code>, <code>external_customer_id</code> and{' '}
        <code>timestamp</code>, and if you like <code>event_id</code>, <code>source</code> and one
        column <code>properties.…</code> for each property. At most 5 MB.
      </p>
      <label>
        File of events{' '}
        <input
          type="file"
          accept=".csv,text/csv"
          onChange={(event) => setFile(event.target.files?.[0] ?? null)}
        />
      </label>
      {failure === null ? null : <Failure error={failure} />}
      <Row>
        <Button
          tone="primary"
          isDisabled={file === null || isSending}
          onPress={() => (file === null ? undefined : void send(file))}
        >
          {isSending ? 'Import events …' : 'Import events'}
        </Button>
      </Row>
    </Stack>
  );
}

async function upload(file: File): Promise<ApiRecord<'Upload'>> {
  const query = new URLSearchParams({ file_name: file.name });
  const answer = await fileAnswer(
    new Request(`/v1/tasks/uploads?${query}`, {
      method: 'POST',
      headers: { 'content-type': 'text/csv' },
      body: file,
    }),
  );
  return (await answer.json()) as ApiRecord<'Upload'>;
}
