import { SETTINGS } from '../../schemas/settings/settings.ts';
import { FORMS, formFor, type FormKey } from '../../web/pages/settings/forms.ts';
import { problemsOf, toApi, toForm } from '../../web/pages/settings/values.ts';

const keys = Object.keys(FORMS) as FormKey[];
const defaultOf = (key: FormKey) => SETTINGS[key].default as Record<string, unknown>;

/** Settings for requests only: lists of actions and rules. */
const WITHOUT_FORM = [
  'custom_analytics_config',
  'customer_onboarding',
  'prepare_processed_events_config',
];

/** What differs from an example, as a person fills it in. */
const FILLED: Partial<Record<FormKey, Record<string, unknown>>> = {
  wallet_balance_alert_config: {
    alert_enabled: true,
    critical: { threshold: '5', condition: 'below' },
    warning: { threshold: '10.5', condition: 'below' },
    info: null,
  },
  bonus_credits_topup_config: {
    enabled: true,
    slabs: [
      {
        threshold: '1000',
        operator: 'gte',
        bonus: { type: 'percentage', value: '20' },
        expiration_duration: 6,
        expiration_duration_unit: 'MONTH',
      },
      { threshold: '100', operator: 'gte', bonus: { type: 'flat', value: '5' } },
    ],
  },
  custom_currency_config: {
    currencies: [
      {
        code: 'crd',
        name: 'Credits',
        symbol: 'cr',
        conversion_factors: { usd: '0.01', eur: '0.009' },
      },
    ],
  },
  payment_retry_config: { enabled: true, intervals_days: [1, 2, 30], final_action: 'cancel' },
};

describe('forms of the settings', () => {
  test('every other setting has a form', () => {
    expect([...keys, ...WITHOUT_FORM].sort()).toEqual(Object.keys(SETTINGS).sort());
  });

  test.each(keys)('%s: what was read and not changed is sent as it was read', (key) => {
    const { fields, schema } = formFor(key);
    const all = { ...defaultOf(key), ...FILLED[key] };
    const held = toForm(fields, all);
    expect(problemsOf(formFor(key), held)).toEqual([]);
    const sent = Object.fromEntries(
      Object.entries(toApi(fields, held)).filter(([, value]) => value !== null),
    );
    expect(toForm(fields, schema.parse(sent) as Record<string, unknown>)).toEqual(held);
  });

  test('an emptied field is null, which restores its default', () => {
    const { fields } = formFor('invoice_config');
    const held = { ...toForm(fields, defaultOf('invoice_config')), due_date_days: ' ' };
    expect(toApi(fields, held)).toMatchObject({ due_date_days: null, prefix: 'INV' });
  });

  test.each([
    [7_200, { amount: '2', unit: 'hours' }],
    [172_800, { amount: '2', unit: 'days' }],
    [5_400, { amount: '90', unit: 'minutes' }],
    [61, { amount: '61', unit: 'seconds' }],
    [0, { amount: '0', unit: 'hours' }],
  ])('%d seconds of grace are asked as %j', (finalization_delay_seconds, amount) => {
    const { fields } = formFor('invoice_config');
    const all = { ...defaultOf('invoice_config'), finalization_delay_seconds };
    const held = toForm(fields, all);
    expect(held).toMatchObject({ finalization_delay_seconds: amount });
    expect(toApi(fields, held)).toMatchObject({ finalization_delay_seconds });
  });

  test('a time is sent in seconds, also a part of its unit; its limits are in words', () => {
    const form = formFor('invoice_config');
    const held = (amount: string, unit: string) => ({
      ...toForm(form.fields, defaultOf('invoice_config')),
      finalization_delay_seconds: { amount, unit },
    });
    const sent = (amount: string, unit: string) =>
      toApi(form.fields, held(amount, unit))['finalization_delay_seconds'];
    expect([sent('1.5', 'hours'), sent('30', 'days'), sent(' ', 'days')]).toEqual([
      5_400, 2_592_000, null,
    ]); // prettier-ignore
    const path = ['finalization_delay_seconds', 'amount'];
    expect(problemsOf(form, held('31', 'days'))).toEqual([
      { path, message: 'must be at most 30 days' },
    ]);
    for (const amount of ['0.0001', 'soon'])
      expect(problemsOf(form, held(amount, 'hours'))).toEqual([
        { path, message: 'must be a number of whole seconds, for example 2 or 1.5' },
      ]);
  });

  test('a problem is shown at its field', () => {
    const found = (key: FormKey, change: Record<string, unknown>) => {
      const { fields } = formFor(key);
      const all = { ...defaultOf(key), ...FILLED[key] };
      return problemsOf(formFor(key), { ...toForm(fields, all), ...change });
    };
    expect(found('invoice_config', { due_date_days: '1.5', prefix: '' })).toEqual([
      { path: ['prefix'], message: 'is required' },
      { path: ['due_date_days'], message: 'must be a whole number' },
    ]);
    expect(found('invoice_config', { start_sequence: '' })).toEqual([
      { path: ['start_sequence'], message: 'is required' },
    ]);
    expect(found('payment_retry_config', { intervals_days: '3\nsoon' })).toEqual([
      { path: ['intervals_days'], message: 'must be a whole number' },
    ]);
    expect(
      found('wallet_topup_config', {
        min_topup_amount_per_currency: [
          { key: 'usd', value: '1' },
          { key: 'dollar', value: '1' },
          { key: 'eur', value: '-1' },
        ],
      }),
    ).toEqual([
      {
        path: ['min_topup_amount_per_currency', 1, 'key'],
        message: 'expected a currency code of three letters',
      },
      {
        path: ['min_topup_amount_per_currency', 2, 'value'],
        message: 'must not be negative',
      },
    ]);
    expect(
      found('wallet_balance_alert_config', { critical: { threshold: '', condition: 'below' } }),
    ).toEqual([{ path: ['critical', 'threshold'], message: 'is required beside warning' }]);
    expect(found('bonus_credits_topup_config', { slabs: [] })).toEqual([
      { path: ['slabs'], message: 'are needed when enabled' },
    ]);
  });
});
