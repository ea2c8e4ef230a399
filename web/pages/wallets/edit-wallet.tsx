import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate, useParams } from '@tanstack/react-router';
import * as z from 'zod';
import { Levels, levelsSent, levelsWritten } from '../../app/billing/alert-levels.tsx';
import { MetadataFields, metadataOf, MetadataRows, rowsOf } from '../../app/metadata-fields.tsx';
import { answerOf, api, type ApiRecord } from '../../client/api.ts';
import { ButtonLink } from '../../ui/button.tsx';
import { SelectField, TextAreaField, TextField } from '../../ui/fields.tsx';
import { Form, useApiForm } from '../../ui/form.tsx';
import { Card, Page, Section } from '../../ui/page.tsx';
import { Loaded } from '../../ui/query-state.tsx';
import { notify } from '../../ui/toasts.tsx';
import { WALLET_PRICE_TYPES, WALLET_THRESHOLD_TYPES } from '../../../schemas/words.ts';
import { AlertFields, TopUpFields } from './watch-fields.tsx';
import { walletQuery } from './wallet-query.ts';

type Wallet = ApiRecord<'WalletBalance'>;

/** Names are those of the request, so that a refusal stands at its field. */
const Body = z.object({
  name: z.string().trim().min(1, 'is required').max(255),
  description: z.string().max(1_000),
  price_types: z.enum(WALLET_PRICE_TYPES),
  auto_topup: z.object({
    enabled: z.boolean(),
    threshold: z.string().trim(),
    amount: z.string().trim(),
    cooldown: z.string().trim(),
    invoicing: z.boolean(),
  }),
  alert_settings: Levels.extend({
    alert_enabled: z.boolean(),
    alert_threshold_type: z.enum(WALLET_THRESHOLD_TYPES),
  }),
  metadata: MetadataRows,
});
type Body = z.output<typeof Body>;

/** Changes what a wallet is called, what it pays, and what happens when it runs low; never its money. */
export function View() {
  const { id = '' } = useParams({ strict: false }) as { id?: string };
  const query = useQuery(walletQuery(id));
  return (
    <Page
      title="Edit wallet"
      crumbs={[
        { label: 'Wallets', to: '/wallets' },
        { label: query.data?.name ?? 'Wallet', to: `/wallets/${id}` },
      ]}
    >
      <Loaded query={query} what="the wallet">
        {(wallet) => <Editor wallet={wallet} />}
      </Loaded>
    </Page>
  );
}

function Editor({ wallet }: { readonly wallet: Wallet }) {
  const navigate = useNavigate();
  const queries = useQueryClient();
  const form = useApiForm(Body, writtenOf(wallet));
  const { control } = form;
  const to = `/wallets/${wallet.id}`;
  return (
    <Card>
      <Form
        form={form}
        submit="Save wallet"
        secondary={<ButtonLink to={to}>Cancel</ButtonLink>}
        onSubmit={async (written) => {
          const params = { path: { id: wallet.id } };
          await answerOf(api.PUT('/wallets/{id}', { params, body: bodyOf(wallet, written) }));
          notify('Wallet saved');
          await queries.invalidateQueries();
          await navigate({ to });
        }}
      >
        <TextField control={control} name="name" label="Name" isRequired autoFocus />
        <TextAreaField control={control} name="description" label="Description" rows={2} />
        <SelectField
          control={control}
          name="price_types"
          label="Pays for"
          isRequired
          choices={[
            ['ALL', 'Everything'],
            ['USAGE', 'Usage'],
            ['FIXED', 'Fixed fees'],
          ]}
        />
        {wallet.wallet_status === 'closed' ? null : (
          <>
            <Section title="Automatic top-up">
              <TopUpFields control={control} wallet={wallet} />
            </Section>
            <Section title="Alerts">
              <AlertFields control={control} />
            </Section>
          </>
        )}
        <Section title="Metadata">
          <MetadataFields control={control} />
        </Section>
      </Form>
    </Card>
  );
}

const textOf = (number: number | undefined): string => (number === undefined ? '' : String(number));

const writtenOf = ({ auto_topup, alert_settings, ...wallet }: Wallet): Body => ({
  name: wallet.name,
  description: wallet.description,
  price_types: wallet.config.allowed_price_types[0] ?? 'ALL',
  auto_topup: {
    enabled: auto_topup?.enabled ?? false,
    threshold: textOf(auto_topup?.threshold),
    amount: textOf(auto_topup?.amount),
    cooldown: auto_topup?.cooldown ?? '',
    invoicing: auto_topup?.invoicing ?? false,
  },
  alert_settings: {
    ...levelsWritten(alert_settings),
    alert_enabled: alert_settings?.alert_enabled ?? false,
    alert_threshold_type: alert_settings?.alert_threshold_type ?? 'absolute',
  },
  metadata: rowsOf(wallet.metadata),
});

/** What was never set and is not switched on stays unset: the server refuses half a setting. */
function bodyOf(wallet: Wallet, { price_types, auto_topup, alert_settings, ...written }: Body) {
  const { alert_enabled, alert_threshold_type, ...levels } = alert_settings;
  const { enabled } = auto_topup;
  const isClosed = wallet.wallet_status === 'closed';
  return {
    ...{ name: written.name, description: written.description },
    config: { allowed_price_types: [price_types] },
    metadata: metadataOf(written.metadata),
    ...(isClosed || (!enabled && wallet.auto_topup === null)
      ? {}
      : { auto_topup: enabled ? auto_topup : { enabled } }),
    ...(isClosed || (!alert_enabled && wallet.alert_settings === null)
      ? {}
      : {
          alert_settings: {
            ...{ alert_enabled, alert_threshold_type },
            ...levelsSent(levels, 'below'),
          },
        }),
  };
}
