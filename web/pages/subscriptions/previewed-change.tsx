import { useState, type ReactNode } from 'react';
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

interface Step {
  readonly subscription: ApiRecord<'Subscription'>;
  readonly confirm: string;
  readonly onBack: () => void;
  readonly onDone: () => Promise<void>;
}

/** The second step of a modification: what it charges or credits, and the button that makes it. */
export function PreviewedChange({
  preview: { body, resources },
  ...step
}: Step & { readonly preview: PreviewedModification }) {
  const path = { params: { path: { id: step.subscription.id } } };
  return (
    <ConfirmedChange
      {...step}
      resources={resources}
      execute={() => answerOf(api.POST('/subscriptions/{id}/modify/execute', { ...path, body }))}
    />
  );
}

/** The same for a change of any kind. `children` stand above what it charges or credits. */
export function ConfirmedChange({
  subscription,
  resources,
  confirm,
  execute,
  onBack,
  onDone,
  children,
}: Step & {
  readonly resources: ApiRecord<'ChangedResources'>;
  readonly execute: () => Promise<unknown>;
  readonly children?: ReactNode;
}) {
  const [failure, setFailure] = useState<Error | null>(null);
  const [isBusy, setBusy] = useState(false);
  const run = async (): Promise<void> => {
    setBusy(true);
    setFailure(null);
    try {
      await execute();
      await onDone();
    } catch (error) {
      setFailure(error as Error);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Stack>
      {children}
      <Changed resources={resources} currency={subscription.currency} />
      {failure === null ? null : <Failure error={failure} />}
      <Row>
        <Button tone="primary" isDisabled={isBusy} onPress={() => void run()}>
          {isBusy ? `${confirm} …` : confirm}
        </Button>
        <Button onPress={onBack}>Back</Button>
      </Row>
    </Stack>
  );
}
