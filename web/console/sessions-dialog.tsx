import { useQuery } from '@tanstack/react-query';
import { Badge } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Loaded } from '../ui/query-state.tsx';
import { PlainTable } from '../ui/data-table.tsx';
import { Time } from '../ui/time.tsx';
import { browserName } from './browser-name.ts';
import { endAllSessions, listSessions } from '../client/session.ts';

/** Where the person is signed in, with "end all". */
export function SessionsDialog({
  isOpen,
  onClose,
}: {
  readonly isOpen: boolean;
  readonly onClose: () => void;
}) {
  const sessions = useQuery({
    queryKey: ['sessions'],
    queryFn: listSessions,
    enabled: isOpen,
  });
  return (
    <Dialog title="Sessions" isOpen={isOpen} onClose={onClose} isWide>
      <Loaded query={sessions} what="sessions">
        {({ items }) => (
          <PlainTable
            label="Sessions"
            rows={items}
            columns={[
              {
                header: 'Browser',
                cell: ({ user_agent, is_current }) => (
                  <>
                    <span title={user_agent ?? undefined}>
                      {user_agent === null ? 'Unknown' : browserName(user_agent)}
                    </span>{' '}
                    {is_current ? <Badge tone="info">This device</Badge> : null}
                  </>
                ),
              },
              { header: 'Address', cell: ({ ip }) => ip },
              { header: 'Last used', cell: ({ last_used_at }) => <Time at={last_used_at} /> },
              {
                header: 'Signed in',
                cell: ({ created_at }) => <Time at={created_at} />,
                wideOnly: true,
              },
            ]}
          />
        )}
      </Loaded>
      <div>
        <Button tone="danger" onPress={() => void endAllSessions()}>
          End all sessions, including this one
        </Button>
      </div>
    </Dialog>
  );
}
