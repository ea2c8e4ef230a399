import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useSignedIn } from '../../app/person.tsx';
import { answerOf, api } from '../../client/api.ts';
import { Button } from '../../ui/button.tsx';
import { ConfirmDialog } from '../../ui/dialog.tsx';
import { ChoiceFilter, FilterBar } from '../../ui/filter-bar.tsx';
import { CodeBlock } from '../../ui/code-block.tsx';
import { Card, Page, Section, Stack } from '../../ui/page.tsx';
import { Loaded } from '../../ui/query-state.tsx';
import { notify } from '../../ui/toasts.tsx';
import { useUrlState } from '../../ui/url-state.ts';
import { formFor, FORMS, type FormKey } from './forms.ts';
import { InvoiceSample } from './invoice-sample.tsx';
import { JsonEditor } from './json-editor.tsx';
import { SettingEditor } from './setting-editor.tsx';

const DEFAULTS = { setting: 'invoice_config', view: 'form' };
const KEYS = Object.keys(FORMS) as FormKey[];
const VIEWS = [
  ['form', 'Form'],
  ['json', 'JSON, as the API has it'],
] as const;

/** Settings of the environment and of the company. */
export function View() {
  const [{ setting, view }, setState] = useUrlState<'setting' | 'view'>(DEFAULTS);
  const isSuperAdmin = useSignedIn().person.roles.includes('super_admin');
  const offered = KEYS.filter((one) => isSuperAdmin || formFor(one).isSecret !== true);
  const key = offered.find((one) => one === setting) ?? 'invoice_config';
  const form = formFor(key);
  const found = useQuery({
    queryKey: ['setting', key],
    queryFn: ({ signal }) =>
      answerOf(api.GET('/settings/{key}', { params: { path: { key } }, signal })),
  });
  const save = useSave(key);
  return (
    <Page
      title={form.label}
      description={form.about}
      actions={
        isSuperAdmin && found.data !== undefined && found.data.id !== '' ? (
          <Restore of={key} />
        ) : undefined
      }
    >
      <FilterBar>
        <ChoiceFilter
          label="Setting"
          unset={null}
          value={key}
          choices={offered.map((one) => [one, formFor(one).label])}
          onChange={(chosen) => setState({ setting: chosen })}
        />
        <ChoiceFilter
          label="View"
          unset={null}
          value={view}
          choices={VIEWS}
          onChange={(chosen) => setState({ view: chosen })}
        />
      </FilterBar>
      <Stack>
        {key === 'saml_config' ? <MetadataAddress /> : null}
        <Loaded query={found} what="the setting">
          {({ value }) => (
            <Card key={`${key} ${JSON.stringify(value)}`}>
              {view === 'json' ? (
                isSuperAdmin ? (
                  <JsonEditor value={value} onSave={save} />
                ) : (
                  <CodeBlock label="Setting" text={JSON.stringify(value, null, 2)} />
                )
              ) : isSuperAdmin ? (
                <SettingEditor
                  form={form}
                  value={value}
                  onSave={save}
                  {...(key === 'invoice_pdf_config' ? { preview: invoiceSample } : {})}
                />
              ) : (
                <Stack>
                  <p>Only a super admin changes settings.</p>
                  <SettingEditor form={form} value={value} />
                </Stack>
              )}
            </Card>
          )}
        </Loaded>
      </Stack>
    </Page>
  );
}

/** What an identity provider reads of this company. */
function MetadataAddress() {
  const { tenant } = useSignedIn().person;
  return (
    <Section title="Address of the metadata">
      <CodeBlock
        label="Address of the metadata"
        text={`${location.origin}/v1/auth/saml/${tenant.id}/metadata`}
      />
    </Section>
  );
}

const invoiceSample = (value: Readonly<Record<string, unknown>>) => <InvoiceSample value={value} />;

function useSave(key: FormKey): (value: Record<string, unknown>) => Promise<void> {
  const cache = useQueryClient();
  return async (value) => {
    await answerOf(
      api.PUT('/settings/{key}', { params: { path: { key } }, body: { value } as never }),
    );
    await cache.invalidateQueries({ queryKey: ['setting', key] });
    notify('Setting saved');
  };
}

function Restore({ of: key }: { readonly of: FormKey }) {
  const cache = useQueryClient();
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button onPress={() => setOpen(true)}>Restore default</Button>
      <ConfirmDialog
        title="Restore default"
        confirm="Restore default"
        isOpen={isOpen}
        onClose={() => setOpen(false)}
        onConfirm={async () => {
          await answerOf(api.DELETE('/settings/{key}', { params: { path: { key } } }));
          await cache.invalidateQueries({ queryKey: ['setting', key] });
          notify('Default restored');
        }}
      >
        <p>
          The saved values of “{formFor(key).label}” are deleted, and the defaults apply from now
          on.
        </p>
      </ConfirmDialog>
    </>
  );
}
