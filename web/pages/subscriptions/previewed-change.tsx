import { useState } from 'react';
import { answerOf, api, type ApiRecord } from '../../client/api.ts';
import { Button } from '../../ui/button.tsx';
import { Row, Stack } from '../../ui/page.tsx';
import { Failure } from '../../ui/query-state.tsx';
import { Changed } from './changed.tsx';

export interface PreviewedModification {
  readonly body: ApiRecord<'ModifySubscription'>;
  readonly resources: ApiRecord<'ChangedResources'>;
}

/** What a modification charges or credits, without making it. */
export async function previewOf(
  subscriptionId: string,
  body: ApiRecord<'ModifySubscription'>,
): Promise<PreviewedModification> {
  const path = { params: { path: { id: subscriptionId } } };
  const { changed_resources } = await answerOf(
    api.POST('/subscriptions/{id}/modify/preview', { ...path, body }),
  );
  return { body, resources: changed_resources };
}

/** The second step of a change: what it charges or credits, and the button that makes it. */
export function PreviewedChange({
  subscription,
  preview,
  confirm,
  onBack,
  onDone,
}: {
  readonly subscription: ApiRecord<'Subscription'>;
  readonly preview: PreviewedModification;
  readonly confirm: string;
  readonly onBack: () => void;
  readonly onDone: () => Promise<void>;
}) {
  const [failure, setFailure] = useState<Error | null>(null);
  const [isBusy, setBusy] = useState(false);
  const path = { params: { path: { id: subscription.id } } };
  const run = async (): Promise<void> => {
    setBusy(true);
    setFailure(null);
    try {
      await answerOf(
        api.POST('/subscriptions/{id}/modify/execute', { ...path, body: preview.body }),
      );
      await onDone();
    } catch (error) {
      setFailure(error as Error);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Stack>
      <Changed resources={preview.resources} currency={subscription.currency} />
      {failure === null ? null : <Failure error={failure} />}
      <Row>
        <Button tone="primary" isDisabled={isBusy} onPress={() => void run()}>
          {confirm}
        </Button>
        <Button onPress={onBack}>Back</Button>
      </Row>
    </Stack>
  );
}
