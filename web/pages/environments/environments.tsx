import { Plus } from 'lucide-react';
import { useState } from 'react';
import { EnvironmentMode, modeOf } from '../../app/environment-mode.tsx';
import { ListPage, listOf } from '../../app/list/list-page.tsx';
import { useMay, useSignedIn, type Environment } from '../../app/person.tsx';
import { answerOf, api } from '../../client/api.ts';
import { basePathOf } from '../../client/environment.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Id } from '../../ui/code-block.tsx';
import type { Column } from '../../ui/data-table.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Row } from '../../ui/page.tsx';
import { EmptyState } from '../../ui/query-state.tsx';
import { Time } from '../../ui/time.tsx';
import { CopyCatalog } from './copy-catalog.tsx';
import { CreateEnvironment } from './create-environment.tsx';
import { RenameEnvironment } from './rename-environment.tsx';

const ENVIRONMENTS = listOf({
  name: 'environments',
  title: 'Environments',
  label: 'List of environments',
  description:
    'Each environment has its own catalog, customers, keys and settings. The menu at the top changes between them.',
  filters: [],
  async search({ limit, offset }, _filters, signal) {
    const query = { limit, offset };
    const answer = await answerOf(api.GET('/environments', { params: { query }, signal }));
    return { items: answer.environments, pagination: { total: answer.total, limit, offset } };
  },
  columns: [],
  file: [
    ['name', ({ name }) => name],
    ['mode', (row) => modeOf(row)],
    ['created', (row) => row.created_at],
    ['id', ({ id }) => id],
  ],
  unmatched: { title: 'No environment matches' },
});

interface Chosen {
  readonly action: 'rename' | 'copy';
  readonly environment: Environment;
}

/** The environments of the tenant: each is live or test, is opened by its name, renamed, and copied from. */
export function View() {
  const { environment: current, person } = useSignedIn();
  const mayWrite = useMay('environment:write');
  // The server refuses a new environment of a person who is limited to some.
  const mayCreate = mayWrite && person.environment_ids === null;
  const [isCreating, setCreating] = useState(false);
  const [chosen, setChosen] = useState<Chosen | null>(null);
  const close = (): void => setChosen(null);
  const columns: readonly Column<Environment>[] = [
    {
      header: 'Name',
      cell: (row) => (
        <Row>
          {/* The console loads again, so that nothing of this environment stays on the screen. */}
          <a href={basePathOf(row.id)}>
            <bdi>{row.name}</bdi>
          </a>
          {row.id === current.id ? <Badge>Current</Badge> : null}
        </Row>
      ),
    },
    { header: 'Mode', cell: (row) => <EnvironmentMode of={row} /> },
    { header: 'Id', wideOnly: true, cell: ({ id }) => <Id of={id} /> },
    { header: 'Created', wideOnly: true, cell: ({ created_at }) => <Time at={created_at} /> },
    ...(mayWrite
      ? [
          {
            header: 'Actions',
            align: 'end' as const,
            cell: (environment: Environment) => (
              <Row>
                <Button
                  small
                  aria-label={`Rename ${environment.name}`}
                  onPress={() => setChosen({ action: 'rename', environment })}
                >
                  Rename
                </Button>
                <Button
                  small
                  aria-label={`Copy catalog of ${environment.name}`}
                  onPress={() => setChosen({ action: 'copy', environment })}
                >
                  Copy catalog
                </Button>
              </Row>
            ),
          },
        ]
      : []),
  ];
  const create = mayCreate ? (
    <Button tone="primary" icon={<Plus size={14} aria-hidden />} onPress={() => setCreating(true)}>
      New environment
    </Button>
  ) : null;
  return (
    <ListPage
      list={{ ...ENVIRONMENTS, columns }}
      actions={create}
      empty={
        <EmptyState title="No environment" action={create}>
          A test environment bills nobody, a live one bills customers.
        </EmptyState>
      }
    >
      <Dialog title="New environment" isOpen={isCreating} onClose={() => setCreating(false)}>
        <CreateEnvironment onDone={() => setCreating(false)} />
      </Dialog>
      <Dialog title="Rename environment" isOpen={chosen?.action === 'rename'} onClose={close}>
        <RenameEnvironment environment={chosen?.environment ?? current} onDone={close} />
      </Dialog>
      <Dialog title="Copy catalog" isOpen={chosen?.action === 'copy'} onClose={close}>
        <CopyCatalog source={chosen?.environment ?? current} mayCreate={mayCreate} onDone={close} />
      </Dialog>
    </ListPage>
  );
}
