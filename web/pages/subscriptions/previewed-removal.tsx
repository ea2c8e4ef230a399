import { useQuery, useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { ApiRecord } from '../../client/api.ts';
import { Loaded } from '../../ui/query-state.tsx';
import { notify } from '../../ui/toasts.tsx';
import { PreviewedChange, previewOf } from './previewed-change.tsx';

const PREVIEW = 'removal';

/** Ends a part of a subscription: shows what its end charges or credits, and the button that confirms it. */
export function PreviewedRemoval({
  subscription,
  change,
  confirm,
  done,
  onClose,
  children,
}: {
  readonly subscription: ApiRecord<'Subscription'>;
  readonly change: ApiRecord<'ModifySubscription'>;
  /** The text of the button, and what is told once it is made. */
  readonly confirm: string;
  readonly done: string;
  readonly onClose: () => void;
  /** Says what ends, and when. */
  readonly children: ReactNode;
}) {
  const queries = useQueryClient();
  const preview = useQuery({
    queryKey: [PREVIEW, subscription.id, change],
    queryFn: () => previewOf(subscription.id, change),
    gcTime: 0,
  });
  return (
    <Loaded query={preview} what="the preview">
      {(previewed) => (
        <>
          {children}
          <PreviewedChange
            subscription={subscription}
            preview={previewed}
            confirm={confirm}
            onBack={onClose}
            onDone={async () => {
              onClose();
              notify(done);
              // The preview has nothing to show any more.
              await queries.invalidateQueries({
                predicate: ({ queryKey }) => queryKey[0] !== PREVIEW,
              });
            }}
          />
        </>
      )}
    </Loaded>
  );
}
