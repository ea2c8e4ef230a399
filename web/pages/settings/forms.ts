import type { SettingForm } from './forms/fields.ts';
import { INVOICING } from './forms/invoicing.ts';
import { MONEY } from './forms/money.ts';
import { PORTAL } from './forms/portal.ts';
import { TENANCY } from './forms/tenancy.ts';

/** Every setting that has an effect, in the order of the page. */
export const FORMS = { ...INVOICING, ...PORTAL, ...MONEY, ...TENANCY };
export type FormKey = keyof typeof FORMS;

export const formFor = (key: FormKey): SettingForm => FORMS[key];
