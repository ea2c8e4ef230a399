import { isIsoCurrency, type Currency } from '../../../domain/currency.ts';
import { invalidField, invalidOperation } from '../../../domain/errors.ts';
import type { Db, Scope, Transaction } from '../../../postgres/client.ts';
import { readSetting } from '../../../postgres/tables/settings.ts';
import type { SettingValue } from '../../../schemas/settings/settings.ts';
import { findCurrencyInUse } from './repository.ts';

type Value = Readonly<Record<string, unknown>>;
type CustomCurrencies = SettingValue<'custom_currency_config'>['currencies'];

/** Both values have passed the setting's schema. */
const currenciesOf = (value: Value) => (value['currencies'] ?? []) as CustomCurrencies;

/**
 * Refuses custom currencies with the code of an ISO currency, factors to unknown currencies, and a list that
 * omits a currency in use at `at` (money 12.3).
 */
export async function assertCustomCurrencies(
  tx: Transaction,
  scope: Scope,
  stored: Value,
  next: Value,
  at: string,
): Promise<void> {
  const known = currenciesOf(next);
  known.forEach(({ code, conversion_factors }, index) => {
    const path = `value.currencies[${index}]`;
    if (isIsoCurrency(code))
      throw invalidField(`${path}.code`, `${code} is a currency of ISO 4217`);
    for (const fiat of Object.keys(conversion_factors))
      if (!isIsoCurrency(fiat))
        throw invalidField(`${path}.conversion_factors.${fiat}`, 'must be a currency of ISO 4217');
  });
  const gone = currenciesOf(stored)
    .map(({ code }) => code)
    .filter((code) => !known.some((other) => other.code === code));
  const used = await findCurrencyInUse(tx, scope, gone, at);
  if (used !== null)
    throw invalidOperation(
      `The custom currency ${used.currency} is in use by ${used.by}.`,
      'value.currencies',
    );
}

/** Refuses a code that is neither a currency of ISO 4217 nor configured (specification, Custom currency). */
export async function assertKnownCurrency(
  db: Db,
  scope: Scope,
  code: string,
  path = 'currency',
): Promise<void> {
  if (typeof (await currencyByCode(db, scope, code)) !== 'string' || isIsoCurrency(code)) return;
  throw invalidField(
    path,
    `${code} is neither a currency of ISO 4217 nor one of the setting custom_currency_config`,
  );
}

/** The display form of amounts in the code: the scope's custom currency, or else the code itself. */
export async function currencyByCode(db: Db, scope: Scope, code: string): Promise<Currency> {
  if (isIsoCurrency(code)) return code;
  const { currencies } = await readSetting(db, scope, 'custom_currency_config');
  return currencies.find((custom) => custom.code === code.toLowerCase()) ?? code;
}
