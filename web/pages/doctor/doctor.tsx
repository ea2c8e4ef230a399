import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { RefreshCw } from 'lucide-react';
import { allows, permissionsOf } from '../../../domain/access/permissions.ts';
import { CHECK_PAGES } from './check-pages.ts';
import { HEALTH_TONES, HEALTH_WORDS, healthInWords } from '../../app/health-words.ts';
import { useSignedIn } from '../../app/person.tsx';
import { answerOf, api, type ApiRecord } from '../../client/api.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Narrow, PlainTable, type Column } from '../../ui/data-table.tsx';
import { Page, Stack } from '../../ui/page.tsx';
import { Loaded } from '../../ui/query-state.tsx';
import { capitalized, sentence } from '../../ui/text.ts';
import { Time } from '../../ui/time.tsx';

type Report = ApiRecord<'DoctorReport'>;
type Check = Report['checks'][number] & { readonly id: string };
type State = Report['state'];

/** How often the checks are made again while the page is open. */
const CHECK_MS = 15_000;

/** What a check says that counts records and finds none. */
const NONE = 'none';
const ORDER: readonly State[] = ['bad', 'warn', 'ok'];

const COLUMNS: readonly Column<Check>[] = [
  { header: 'Check', cell: ({ name }) => capitalized(healthInWords(name)) },
  {
    header: 'Status',
    cell: ({ state }) => <Badge tone={HEALTH_TONES[state]}>{HEALTH_WORDS[state]}</Badge>,
  },
  { header: 'Result', cell: (check) => <Result of={check} /> },
  {
    header: 'How to fix it',
    wideOnly: true,
    cell: ({ mend }) => (mend === null ? '–' : sentence(healthInWords(mend))),
  },
];

/** On a phone with what to do about it. */
function Result({ of: check }: { readonly of: Check }) {
  return (
    <>
      <Found by={check} />
      {check.mend === null ? null : <Narrow>{sentence(healthInWords(check.mend))}</Narrow>}
    </>
  );
}

/** The result, with a link to the records that it counts. */
function Found({ by: { name, found } }: { readonly by: Check }) {
  const page = CHECK_PAGES[name];
  const { person } = useSignedIn();
  const mayLook = page !== undefined && allows(permissionsOf(person.roles), page.permission);
  if (!mayLook || found === NONE) return sentence(found);
  return (
    <Link to={page.to} {...(page.search ? { search: page.search as never } : {})}>
      {sentence(found)}
    </Link>
  );
}

const SUMMARY: Readonly<Record<State, string>> = {
  ok: 'All checks of this environment pass.',
  warn: 'Some checks need attention. No data is lost.',
  bad: 'Some checks fail. Each row says how to fix it.',
};

/** Whether the service works as far as this environment is concerned, the worst first. */
export function View() {
  const report = useQuery({
    queryKey: ['doctor'],
    queryFn: ({ signal }) => answerOf(api.POST('/operations/doctor', { signal })),
    refetchInterval: CHECK_MS,
  });
  return (
    <Page
      title="Doctor"
      description={report.data === undefined ? undefined : SUMMARY[report.data.state]}
      actions={
        <Button
          icon={<RefreshCw size={14} aria-hidden />}
          isDisabled={report.isFetching}
          onPress={() => void report.refetch()}
        >
          Check again
        </Button>
      }
    >
      <Loaded query={report} what="the checks">
        {({ checks, checked_at }) => (
          <Stack>
            <PlainTable
              label="Checks"
              columns={COLUMNS}
              rows={[...checks]
                .sort((left, right) => ORDER.indexOf(left.state) - ORDER.indexOf(right.state))
                .map((check) => ({ ...check, id: check.name }))}
            />
            <p>
              Checked <Time at={checked_at} seconds />
            </p>
          </Stack>
        )}
      </Loaded>
    </Page>
  );
}
