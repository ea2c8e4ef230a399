import type { Locator, Page } from 'playwright-core';
import type { PipelineWorld } from '../support/pipeline-world.ts';
import { lateInvoice } from './late-invoice.ts';

/** How a dialog of the console is opened. */
export interface DialogOpening {
  /** The page, as in the route table. */
  readonly path: string;
  /** Names, or how they begin, of what is pressed one after the other: a button, a link, an entry of a menu. */
  readonly press: readonly string[];
}

const opening = (path: string, ...press: string[]): DialogOpening => ({ path, press });

/** The default of a setting can be restored only when another value is stored. */
const STORED_SETTING = 'payment_retry_config';

/** Stores what some of the dialogs are about. Returns records beside those of the world, by path. */
export async function prepareDialogs(world: PipelineWorld): Promise<ReadonlyMap<string, string>> {
  const { api } = world;
  const value = { enabled: true, intervals_days: [3, 7], final_action: 'none' };
  const { status } = await api.put(`/v1/settings/${STORED_SETTING}`, { value });
  if (status !== 200) throw new Error(`${STORED_SETTING} is not stored: ${status}`);
  const late = await lateInvoice(world, { name: 'late', more: 200, isLess: true });
  return new Map([['/late-usage/$id', late.id]]);
}

/** Dialogs that open without being asked for more, by page. */
export const DIALOGS: readonly DialogOpening[] = [
  opening('/', 'Search or jump to'),
  opening('/', 'Account of', 'Keyboard shortcuts'),
  opening('/', 'Account of', 'Sessions'),
  opening('/addons', 'New addon'),
  opening('/addons/$id', 'Add credit grant'),
  opening('/addons/$id', 'Add entitlement'),
  opening('/addons/$id', 'Archive'),
  opening('/addons/$id', 'Calculate '),
  opening('/addons/$id', 'Edit'),
  opening('/addons/$id', 'Edit Completions'),
  opening('/addons/$id', 'New version of'),
  opening('/addons/$id', 'Remove '),
  opening('/analytics', 'Save view'),
  opening('/api-keys', 'Create key'),
  opening('/audit-log', 'Show '),
  opening('/audit-log', 'Verify the chain'),
  opening('/connections', 'Connect a bucket'),
  opening('/connections', 'Connect a gateway'),
  opening('/cost-sheets', 'New cost sheet'),
  opening('/cost-sheets/$id', 'Calculate '),
  opening('/cost-sheets/$id', 'Delete'),
  opening('/cost-sheets/$id', 'Edit'),
  opening('/cost-sheets/$id', 'End '),
  opening('/cost-sheets/$id', 'New version of'),
  opening('/coupons', 'New coupon'),
  opening('/coupons/$id', 'Archive'),
  opening('/coupons/$id', 'Edit'),
  opening('/customers/$id', 'Assign tax'),
  opening('/customers/$id', 'Delete'),
  opening('/customers/$id', 'Open portal'),
  opening('/environments', 'Copy catalog of'),
  opening('/environments', 'New environment'),
  opening('/environments', 'Rename '),
  opening('/features/$id', 'Archive'),
  opening('/features/$id', 'Edit'),
  opening('/invoices/$id', 'Credit note'),
  opening('/invoices/$id', 'More actions', 'Edit line items'),
  opening('/invoices/$id', 'More actions', 'Void invoice'),
  opening('/invoices/$id', 'Payment link'),
  opening('/invoices/$id', 'Record payment'),
  opening('/invoices/$id', 'Why this amount'),
  opening('/late-usage/$id', 'Charge '),
  opening('/late-usage/$id', 'Credit '),
  opening('/people', 'Invite person'),
  opening('/people', 'Service accounts', 'Add service account'),
  opening('/plans', 'New plan'),
  opening('/plans/$id', 'Add credit grant'),
  opening('/plans/$id', 'Add entitlement'),
  opening('/plans/$id', 'Archive'),
  opening('/plans/$id', 'Calculate '),
  opening('/plans/$id', 'Edit'),
  opening('/plans/$id', 'Edit Completions'),
  opening('/plans/$id', 'End '),
  opening('/plans/$id', 'New version of'),
  opening('/price-groups', 'New price group'),
  opening('/price-groups/$id', 'Add price'),
  opening('/price-groups/$id', 'Archive'),
  opening('/price-groups/$id', 'Remove '),
  opening(`/settings?setting=${STORED_SETTING}`, 'Restore default'),
  opening('/subscriptions/$id', 'Change plan'),
  opening('/subscriptions/$id', 'Change Completions'),
  opening('/subscriptions/$id', 'Change quantity'),
  opening('/subscriptions/$id', 'More actions', 'Add addon'),
  opening('/subscriptions/$id', 'More actions', 'Add coupon'),
  opening('/subscriptions/$id', 'More actions', 'Cancel subscription'),
  opening('/subscriptions/$id', 'More actions', 'Pause'),
  opening('/scheduled-exports/$id', 'Delete'),
  opening('/scheduled-exports/$id', 'Edit'),
  opening('/scheduled-exports/$id', 'Run now'),
  opening('/subscriptions/$id', 'Set spend alert'),
  opening('/tasks', 'Export'),
  opening('/tasks', 'Import events'),
  opening('/tax-rates', 'New tax rate'),
  opening('/tax-rates/$id', 'Archive'),
  opening('/tax-rates/$id', 'Assign tax'),
  opening('/tax-rates/$id', 'Change '),
  opening('/tax-rates/$id', 'Edit'),
  opening('/tax-rates/$id', 'Remove '),
  opening('/tasks', 'New scheduled export'),
  opening('/test-clocks', 'New test clock'),
  opening('/test-clocks/$id', 'Delete'),
  opening('/wallets/$id', 'More actions', 'Debit credits'),
  opening('/wallets/$id', 'More actions', 'Terminate wallet'),
  opening('/wallets/$id', 'Top up'),
  opening('/webhooks', 'Add endpoint'),
  opening('/webhooks/$id', 'Delete'),
  opening('/webhooks/$id', 'Edit'),
  opening('/webhooks/$id', 'Resend'),
  opening('/webhooks/$id', 'Rotate secret'),
];

export const nameOf = ({ path, press }: DialogOpening): string => `${path}, ${press.join(', ')}`;

/** Opens the dialog of the page that is shown. Returns what has the focus when it is closed: of a menu, its button. */
export async function openDialog(page: Page, { press }: DialogOpening): Promise<Locator> {
  let opener = page.locator(':focus');
  for (const name of press) {
    const named = { name: new RegExp(`^${name}`) };
    const entry = page.getByRole('menuitem', named);
    const target = page
      .getByRole('button', named)
      .or(page.getByRole('link', named))
      .or(page.getByRole('tab', named))
      .or(entry)
      .first();
    await target.waitFor();
    if ((await entry.count()) === 0) opener = target;
    await target.press('Enter');
  }
  await page.getByRole('dialog').waitFor();
  return opener;
}
