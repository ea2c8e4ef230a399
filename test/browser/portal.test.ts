import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from 'playwright-core';
import { describeInBrowser } from '../support/requires.ts';
import { everyForm, settled } from './inspect.ts';
import { startBrowserWorld, type BrowserWorld, type Watched } from './world.ts';

/** The paths of the portal's route table. Its file cannot be imported here: it names components. */
const table = readFileSync(new URL('../../web/portal/routes.ts', import.meta.url), 'utf8');
const PATHS = [...table.matchAll(/\{ path: '([^']+)'/g)].map((match) => match[1]!);
const HOSTILE = `<script>alert(1)</script> ${'شركة '.repeat(10)}${'x'.repeat(150)}`;

/** What a customer sees behind a link of the company that bills them. */
describeInBrowser('portal', (executable) => {
  let shown: BrowserWorld;
  beforeAll(async () => {
    shown = await startBrowserWorld(executable);
    await made('/v1/connections', { name: 'Test', provider_type: 'test' });
  });
  afterAll(() => shown?.close());

  const answered = ({ status, body }: { status: number; body: any }): any => {
    if (status >= 300) throw new Error(JSON.stringify(body));
    return body;
  };
  const made = async (path: string, body: object): Promise<any> =>
    answered(await shown.world.api.post(path, body));
  const read = async (path: string): Promise<any> => answered(await shown.world.api.get(path));
  /** The address of a link on the port of this test. */
  const here = (link: string): string => link.replace(/^https?:\/\/[^/]+/, shown.url);
  /** The portal of a customer, at one of its pages. */
  const portalOf = async (externalId: string, path = ''): Promise<Watched> => {
    const { url } = await read(`/v1/customers/portal/${externalId}`);
    const watched = await shown.fresh();
    await watched.page.goto(here(url));
    await watched.page.getByRole('navigation', { name: 'Pages' }).waitFor();
    if (path !== '') await watched.page.goto(`${shown.url}/portal${path}`);
    await settled(watched.page);
    return watched;
  };
  const invoiceFor = (customer_id: string, line: object = {}) =>
    made('/v1/invoices', {
      customer_id,
      invoice_type: 'ONE_OFF',
      currency: 'usd',
      line_items: [{ display_name: 'Set-up', amount: '40', quantity: '1', ...line }],
    });
  const newCustomer = async (external_id: string, name = external_id) =>
    await made('/v1/customers', { external_id, name });

  test('every page in light and dark at three widths: axe finds nothing, nothing overflows, nothing fails; the token leaves the address', async () => {
    await made('/v1/customers/' + shown.records.get('/customers/$id') + '/payment-methods', {
      gateway_method_id: 'pm_test_success',
      payment_gateway: 'test',
    }).catch(() => undefined);
    const { page, problems } = await portalOf('acme');
    expect(page.url()).toBe(`${shown.url}/portal`);
    expect(await page.evaluate(kept)).toEqual([]);
    const found: string[] = [];
    for (const path of PATHS) {
      const id = shown.records.get(path) ?? '';
      await page.goto(`${shown.url}/portal${path.replace(/\$\w+/, id)}`);
      await page.getByRole('heading', { level: 1 }).waitFor();
      await settled(page);
      found.push(...(await everyForm(page, `portal${path}`)));
    }
    expect([...found, ...problems]).toEqual([]);
    await page.context().close();
  });
});

/** Runs in the page: what it left in the browser's storage. */
function kept(): string[] {
  const { localStorage, sessionStorage, document } = globalThis as unknown as {
    localStorage: object;
    sessionStorage: object;
    document: { cookie: string };
  };
  return [...Object.keys(localStorage), ...Object.keys(sessionStorage), document.cookie].filter(
    (text) => text !== '',
  );
}
