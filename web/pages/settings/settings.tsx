import { useQuery, useQueryClient } from '@tanstack/react-query';
import * as z from 'zod';
import { useSignedIn } from '../../app/person.tsx';
import { answerOf, api } from '../../client/api.ts';
import { TextAreaField } from '../../ui/fields.tsx';
import { ChoiceFilter, FilterBar } from '../../ui/filter-bar.tsx';
import { CodeBlock } from '../../ui/code-block.tsx';
import { Form, useApiForm } from '../../ui/form.tsx';
import { Page } from '../../ui/page.tsx';
import { Loaded } from '../../ui/query-state.tsx';
import { notify } from '../../ui/toasts.tsx';
import { useUrlState } from '../../ui/url-state.ts';

const KEYS = [
  ['invoice_config', 'Invoices: numbers, due dates, grace'],
  ['invoice_pdf_config', 'Invoice document'],
  ['subscription_config', 'Subscriptions'],
  ['payment_retry_config', 'Payment retries'],
  ['customer_portal_config', 'Customer portal'],
  ['custom_currency_config', 'Custom currencies'],
  ['wallet_balance_alert_config', 'Wallet balance alerts'],
  ['subscription_alert_config', 'Spend alerts'],
  ['entitlement_alert_config', 'Entitlement alerts'],
  ['wallet_topup_config', 'Wallet top-ups'],
  ['bonus_credits_topup_config', 'Bonus credits'],
  ['tenant_config', 'Tenant'],
  ['saml_config', 'Single sign-on (SAML)'],
] as const;

const DEFAULTS = { setting: 'invoice_config' };

/** Settings of the environment and of the tenant, each as the API has it. */
export function View() {
  const [{ setting }, setState] = useUrlState<'setting'>(DEFAULTS);
  const key = KEYS.find(([one]) => one === setting)?.[0] ?? 'invoice_config';
  const found = useQuery({
    queryKey: ['setting', key],
    queryFn: ({ signal }) =>
      answerOf(api.GET('/settings/{key}', { params: { path: { key } }, signal })),
  });
  return (
    <Page title="Settings" description="The default stands where nothing was changed.">
      <FilterBar>
        <ChoiceFilter
          label="Setting"
          unset={null}
          value={key}
          choices={KEYS}
          onChange={(chosen) => setState({ setting: chosen })}
        />
      </FilterBar>
      <Loaded query={found} what="the setting">
        {({ value }) => <Editor key={`${key} ${JSON.stringify(value)}`} of={key} value={value} />}
      </Loaded>
    </Page>
  );
}

const SettingForm = z.object({
  value: z.string().refine(isObject, 'must be a JSON object, for example {"due_days": 14}'),
});

function Editor({ of: key, value }: { readonly of: string; readonly value: object }) {
  const { person } = useSignedIn();
  const cache = useQueryClient();
  const text = JSON.stringify(value, null, 2);
  const form = useApiForm(SettingForm, { value: text });
  if (!person.roles.includes('super_admin')) return <CodeBlock label="Setting" text={text} />;
  return (
    <Form
      form={form}
      submit="Save setting"
      isWide
      onSubmit={async (sent) => {
        const body = { value: JSON.parse(sent.value) as Record<string, unknown> };
        await answerOf(
          api.PUT('/settings/{key}', { params: { path: { key } }, body: body as never }),
        );
        await cache.invalidateQueries({ queryKey: ['setting', key] });
        notify('Setting saved');
      }}
    >
      <TextAreaField
        control={form.control}
        name="value"
        label="Value"
        isRequired
        rows={Math.min(24, text.split('\n').length + 2)}
        isCode
        hint="Fields that you leave out stay as they are; null restores the default."
      />
    </Form>
  );
}

function isObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}
