import { useWatch, type Control } from 'react-hook-form';
import { LevelFields } from '../../app/billing/alert-levels.tsx';
import { priceOfCredits, typed } from '../../app/billing/amounts.ts';
import type { ApiRecord } from '../../client/api.ts';
import { Facts } from '../../ui/facts.tsx';
import { CheckboxField, FieldRow, SelectField, TextField } from '../../ui/fields.tsx';
import { Money } from '../../ui/money.tsx';
import { Stack } from '../../ui/page.tsx';

interface Watched {
  auto_topup: {
    enabled: boolean;
    threshold: string;
    amount: string;
    cooldown: string;
    invoicing: boolean;
  };
  alert_settings: { alert_enabled: boolean; alert_threshold_type: 'absolute' | 'percentage' };
}

/** When the wallet is filled by itself, by how much, and what that costs. */
export function TopUpFields<Fields extends Watched>({
  control: given,
  wallet,
}: {
  readonly control: Control<Fields>;
  readonly wallet: ApiRecord<'WalletBalance'>;
}) {
  const control = given as unknown as Control<Watched>;
  const { enabled, amount } = useWatch({ control, name: 'auto_topup' });
  const toggle = (
    <CheckboxField
      control={control}
      name="auto_topup.enabled"
      label="Add credits when the wallet runs low"
    />
  );
  if (!enabled) return toggle;
  const price = priceOfCredits(amount, wallet.topup_conversion_rate);
  return (
    <Stack>
      {toggle}
      <FieldRow>
        <TextField
          control={control}
          name="auto_topup.threshold"
          label="When this many credits or fewer are left"
          kind="decimal"
          isRequired
        />
        <TextField
          control={control}
          name="auto_topup.amount"
          label="Credits to add each time"
          kind="decimal"
          isRequired
        />
      </FieldRow>
      <TextField
        control={control}
        name="auto_topup.cooldown"
        label="At most once in"
        hint="For example 90m, 1h or P1D. Empty means the usual time, 0s means none."
      />
      <CheckboxField
        control={control}
        name="auto_topup.invoicing"
        label="With an invoice"
        hint="The credits are there once the invoice is paid. Without it they are there at once."
      />
      {typed(amount) === null ? null : (
        <Facts
          of={[
            ['Price each time, before tax', <Money amount={price} currency={wallet.currency} />],
          ]}
        />
      )}
    </Stack>
  );
}

/** Levels of the balance that are told. */
export function AlertFields<Fields extends Watched>({
  control: given,
}: {
  readonly control: Control<Fields>;
}) {
  const control = given as unknown as Control<Watched>;
  const { alert_enabled, alert_threshold_type } = useWatch({ control, name: 'alert_settings' });
  const toggle = (
    <CheckboxField
      control={control}
      name="alert_settings.alert_enabled"
      label="Tell when the balance is low"
      hint="As a webhook, and on the list of wallets."
    />
  );
  if (!alert_enabled) return toggle;
  const isPercentage = alert_threshold_type === 'percentage';
  return (
    <Stack>
      {toggle}
      <SelectField
        control={control}
        name="alert_settings.alert_threshold_type"
        label="Thresholds are"
        isRequired
        choices={[
          ['absolute', 'Credits'],
          ['percentage', 'Percent of the credits added since the running period began'],
        ]}
      />
      <LevelFields
        control={control}
        path="alert_settings"
        unit={isPercentage ? 'percent' : 'credits'}
      />
    </Stack>
  );
}
