import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Plus } from 'lucide-react';
import { useState } from 'react';
import { Allowed, useMay } from '../../app/person.tsx';
import { answerOf, api, type ApiRecord } from '../../client/api.ts';
import { Status } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { PlainTable, type Column } from '../../ui/data-table.tsx';
import { ConfirmDialog, Dialog } from '../../ui/dialog.tsx';
import { Money } from '../../ui/money.tsx';
import { Row, Section, Stack } from '../../ui/page.tsx';
import { EmptyState, Loaded } from '../../ui/query-state.tsx';
import { notify } from '../../ui/toasts.tsx';
import { SpendAlertForm, usageLines } from './spend-alert-form.tsx';

type Subscription = ApiRecord<'Subscription'>;
type Group = ApiRecord<'Group'>;
type Setting = ApiRecord<'AlertSetting'>;

const SHOWN = 1000;

/** Levels of spend in the running period that are told: of the subscription, of its lines and of its price groups. */
export function SpendAlerts({ subscription }: { readonly subscription: Subscription }) {
  const [open, setOpen] = useState<'new' | Setting | null>(null);
  const mayRead = useMay('alert_settings:read');
  const mayWrite = useMay('alert_settings:write');
  const { id } = subscription;
  const query = useQuery({
    queryKey: ['subscription', id, 'spend-alerts'],
    enabled: mayRead,
    queryFn: async ({ signal }) => {
      const search = (
        body: { readonly entity_id: string } | { readonly parent_entity_id: string },
      ) =>
        answerOf(api.POST('/alerts/setting/search', { body: { ...body, limit: SHOWN }, signal }));
      const found = await Promise.all([
        search({ entity_id: id }),
        search({ parent_entity_id: id }),
      ]);
      return found.flatMap(({ items }) => items);
    },
  });
  const groups = useGroups([
    ...usageLines(subscription).flatMap(({ price }) => price?.group_id ?? []),
    ...(query.data ?? []).flatMap((row) => (row.entity_type === 'group' ? row.entity_id : [])),
  ]);
  if (!mayRead) return null;
  const nameOf = (setting: Setting): string => nameIn(subscription, groups, setting);
  const create = (
    <Allowed to="alert_settings:write">
      <Button small icon={<Plus size={14} aria-hidden />} onPress={() => setOpen('new')}>
        Set spend alert
      </Button>
    </Allowed>
  );
  return (
    <Section title="Spend alerts">
      <Loaded query={query} what="spend alerts">
        {(settings) =>
          settings.length === 0 ? (
            <EmptyState title="No spend alert of its own" action={create}>
              A webhook tells when the usage of a billing period costs more than a level. Without a
              level of its own, those of the settings count.
            </EmptyState>
          ) : (
            <Stack>
              <PlainTable
                label="List of spend alerts"
                rows={settings}
                columns={[
                  {
                    header: 'For',
                    cell: (row) =>
                      row.entity_type === 'group' ? (
                        <Link to={`/price-groups/${row.entity_id}`}>
                          <bdi>{nameOf(row)}</bdi>
                        </Link>
                      ) : (
                        <bdi>{nameOf(row)}</bdi>
                      ),
                  },
                  ...levelColumns(subscription.currency),
                  {
                    header: 'Status',
                    cell: (row) => <Status word={row.enabled ? row.alert_state : 'off'} />,
                  },
                  ...(mayWrite
                    ? [
                        {
                          header: 'Actions',
                          align: 'end' as const,
                          cell: (row: Setting) => (
                            <Row>
                              <Button
                                small
                                aria-label={`Change the alert of ${nameOf(row)}`}
                                onPress={() => setOpen(row)}
                              >
                                Change
                              </Button>
                              <RemoveAlert setting={row} name={nameOf(row)} />
                            </Row>
                          ),
                        },
                      ]
                    : []),
                ]}
              />
              <Row>{create}</Row>
            </Stack>
          )
        }
      </Loaded>
      <Dialog
        title={open === 'new' ? 'Set spend alert' : 'Change spend alert'}
        isOpen={open !== null}
        onClose={() => setOpen(null)}
      >
        {open === null ? null : (
          <SpendAlertForm
            subscription={subscription}
            groups={groups.filter((group) => isOn(subscription, group))}
            setting={open === 'new' ? null : open}
            onDone={() => setOpen(null)}
          />
        )}
      </Dialog>
    </Section>
  );
}

const levelColumns = (currency: string): readonly Column<Setting>[] =>
  (
    [
      ['Critical', 'critical'],
      ['Warning', 'warning'],
      ['Notice', 'info'],
    ] as const
  ).map(([header, level]) => ({
    header,
    align: 'end',
    wideOnly: level !== 'critical',
    cell: ({ config }) =>
      config[level] === null ? '–' : <Money amount={config[level].threshold} currency={currency} />,
  }));

const nameIn = (
  { line_items }: Subscription,
  groups: readonly Group[],
  { entity_type, entity_id }: Setting,
): string => {
  if (entity_type === 'subscription') return 'All usage';
  if (entity_type === 'group') return groups.find(({ id }) => id === entity_id)?.name ?? entity_id;
  return line_items?.find(({ id }) => id === entity_id)?.display_name ?? entity_id;
};

/** Whether a usage line of the subscription has a price of the group. */
const isOn = (subscription: Subscription, { id }: Group): boolean =>
  usageLines(subscription).some(({ price }) => price?.group_id === id);

const NO_GROUPS: readonly Group[] = [];

/** The published groups with these ids. Empty until they are known, and for people who may not read them. */
function useGroups(ids: readonly string[]): readonly Group[] {
  const mayRead = useMay('group:read');
  const group_ids = [...new Set(ids)].sort();
  const { data } = useQuery({
    queryKey: ['price-groups-of', group_ids],
    enabled: mayRead && group_ids.length > 0,
    queryFn: ({ signal }) =>
      answerOf(
        api.POST('/groups/search', { body: { group_ids, limit: group_ids.length }, signal }),
      ),
    placeholderData: keepPreviousData,
  });
  return data?.items ?? NO_GROUPS;
}

function RemoveAlert({ setting, name }: { readonly setting: Setting; readonly name: string }) {
  const [isOpen, setOpen] = useState(false);
  const queries = useQueryClient();
  return (
    <>
      <Button small aria-label={`Remove the alert of ${name}`} onPress={() => setOpen(true)}>
        Remove
      </Button>
      <ConfirmDialog
        title="Remove this spend alert?"
        confirm="Remove alert"
        tone="danger"
        isOpen={isOpen}
        onClose={() => setOpen(false)}
        onConfirm={async () => {
          const params = { path: { id: setting.id } };
          await answerOf(api.DELETE('/alerts/setting/{id}', { params }));
          notify('Alert removed');
          // Not awaited: the row and its dialog are gone with the new rows.
          void queries.invalidateQueries();
        }}
      >
        <p>Its levels are not told any more.</p>
      </ConfirmDialog>
    </>
  );
}
