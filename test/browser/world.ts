import { execFileSync } from 'node:child_process';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { chromium, type Browser, type Page } from 'playwright-core';
import { catalogOf } from '../support/catalog.ts';
import { WAIT_MS } from '../support/patience.ts';
import {
  startPipeline,
  type PipelineOptions,
  type PipelineWorld,
} from '../support/pipeline-world.ts';
import { recordsOf } from './paths.ts';

/** The product with its pages on a port, and a browser in which a person is signed in. */
export interface BrowserWorld {
  readonly world: PipelineWorld;
  readonly url: string;
  readonly browser: Browser;
  /** Records that pages show, by the path in the route table: `/customers/$id` and the id. */
  readonly records: ReadonlyMap<string, string>;
  /** A page that is signed in, and the errors on it until now. */
  signedIn(email?: string): Promise<Watched>;
  /** A page without a session. */
  fresh(): Promise<Watched>;
  close(): Promise<void>;
}

export interface Watched {
  readonly page: Page;
  /** Console errors, uncaught errors, failed requests and answers of 400 and above. */
  readonly problems: string[];
}

export const PERSON = { email: 'ada@example.test', password: 'correct horse battery' };

const ARGUMENTS = ['--no-sandbox', '--disable-gpu'];

export async function startBrowserWorld(
  executablePath: string,
  options: Omit<PipelineOptions, 'pagesDirectory'> = {},
): Promise<BrowserWorld> {
  execFileSync('npm', ['run', '--silent', 'build'], { stdio: 'pipe' });
  const pagesDirectory = fileURLToPath(new URL('../../dist/web', import.meta.url));
  const world = await startPipeline({ ...options, pagesDirectory });
  const { app } = world.api;
  await app.listen({ port: 0, host: '127.0.0.1' });
  const url = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;
  const browser = await chromium.launch({ executablePath, args: ARGUMENTS });
  const records = await makeRecords(world);
  await nameThePerson(world);

  const fresh = async (): Promise<Watched> => {
    const context = await browser.newContext({ timezoneId: 'UTC' });
    context.setDefaultTimeout(WAIT_MS);
    await context.addInitScript(setClock, world.api.clock.now());
    const page = await context.newPage();
    return { page, problems: watch(page) };
  };
  return {
    world,
    url,
    browser,
    records,
    fresh,
    async signedIn(email = PERSON.email) {
      const watched = await fresh();
      const { page } = watched;
      await page.goto(url);
      await page.getByLabel('E-mail').fill(email);
      await page.getByLabel('Password').fill(PERSON.password);
      await page.keyboard.press('Enter');
      await page.getByRole('navigation', { name: 'Pages' }).waitFor();
      return watched;
    },
    async close() {
      await browser.close();
      await world.close();
    },
  };
}

/** Runs in the page: sets its clock to the time of the API's. */
function setClock(nowMs: number): void {
  const System = Date;
  const aheadMs = nowMs - System.now();
  globalThis.Date = class extends System {
    constructor(...parts: [] | [string]) {
      super(...((parts.length === 0 ? [System.now() + aheadMs] : parts) as [string]));
    }
    static override now(): number {
      return System.now() + aheadMs;
    }
  } as DateConstructor;
}

/** Gives the caller of the test API an address and a password, by the routes for them. */
async function nameThePerson({ api }: PipelineWorld): Promise<void> {
  const { body } = await api.post(
    '/v1/auth/signup',
    { ...PERSON, tenant_name: 'Elsewhere' },
    { 'x-api-key': '' },
  );
  // The person who signed up moves into the tenant of the test: its environment has the records.
  await api.pool`
    update users set email = ${`moved-${PERSON.email}`} where id = ${body.user_id}`;
  await api.pool`
    update users set email = ${PERSON.email},
           password_hash = (select password_hash from users where id = ${body.user_id})
     where id = ${api.user_id}`;
}

function watch(page: Page): string[] {
  const problems: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning')
      problems.push(`console: ${message.text()}`);
  });
  page.on('crash', () => problems.push(`crashed: ${page.url()}`));
  page.on('pageerror', (error) => problems.push(`error: ${error.message}`));
  page.on('requestfailed', (request) => {
    // Leaving a page aborts its pending requests.
    const why = request.failure()?.errorText ?? '';
    if (why !== 'net::ERR_ABORTED') problems.push(`failed: ${request.url()} ${why}`);
  });
  page.on('response', (response) => {
    if (response.status() >= 400) problems.push(`${response.status()}: ${response.url()}`);
  });
  return problems;
}

/** One record for each page of the route table that has an id in its path. */
async function makeRecords(world: PipelineWorld): Promise<ReadonlyMap<string, string>> {
  const { api } = world;
  const meter = await api.postOk('/v1/meters', {
    name: 'Tokens',
    event_name: 'completion',
    aggregation: { type: 'SUM', field: 'tokens' },
    filters: [{ key: 'region', values: ['eu', 'us'] }],
    reset_usage: 'BILLING_PERIOD',
  });
  const catalog = catalogOf(api);
  const plan = await catalog.plan('Growth');
  await catalog.fixed(plan, '49');
  const group = await api.postOk('/v1/groups', {
    ...{ name: 'Models', lookup_key: 'models', entity_type: 'price' },
  });
  await catalog.usage(plan, meter, {
    group_id: group.id,
    billing_model: 'TIERED',
    tier_mode: 'SLAB',
    tiers: [
      { up_to: 1_000, unit_amount: '0.02' },
      { up_to: null, unit_amount: '0.01' },
    ],
  });
  const customer = await catalog.customer({ external_id: 'acme', name: 'Acme Inc' });
  const subscription = await catalog.subscribe(customer, plan);
  await catalog.customer({
    name: `<script>alert(1)</script> ${'شركة '.repeat(10)}${'x'.repeat(150)}`,
  });
  const invoice = await api.postOk('/v1/invoices', {
    customer_id: customer.id,
    invoice_type: 'ONE_OFF',
    currency: 'usd',
    line_items: [{ display_name: 'Set-up', amount: '1234567.89', quantity: '1' }],
  });
  const wallet = await api.postOk('/v1/wallets', {
    customer_id: customer.id,
    currency: 'usd',
    name: 'Prepaid',
  });
  await api.postOk(`/v1/wallets/${wallet.id}/top-up`, {
    credits_to_add: '100',
    transaction_reason: 'FREE_CREDIT_GRANT',
    idempotency_key: 'first',
  });
  const feature = await api.postOk('/v1/features', {
    name: 'Completions',
    type: 'metered',
    meter_id: meter.id,
    unit_singular: 'token',
    unit_plural: 'tokens',
  });
  await api.postOk('/v1/entitlements', {
    plan_id: plan.id,
    feature_id: feature.id,
    feature_type: 'metered',
    usage_limit: 10_000,
    usage_reset_period: 'MONTHLY',
  });
  const addon = await api.postOk('/v1/addons', { name: 'Support', lookup_key: 'support' });
  await catalog.fixed(addon, '20', { entity_type: 'ADDON' });
  await api.postOk('/v1/entitlements', {
    ...{ entity_type: 'ADDON', entity_id: addon.id },
    ...{ feature_id: feature.id, feature_type: 'metered' },
    ...{ usage_limit: 500, usage_reset_period: 'MONTHLY' },
  });
  await api.postOk('/v1/creditgrants', {
    ...{ name: 'Welcome', scope: 'ADDON', addon_id: addon.id, credits: '25' },
    ...{ cadence: 'RECURRING', period: 'MONTHLY', expiration_type: 'BILLING_CYCLE' },
  });
  await catalog.subscribe(await catalog.customer(), plan, { addons: [{ addon_id: addon.id }] });
  const coupon = await api.postOk('/v1/coupons', {
    ...{ name: 'Launch', coupon_code: 'launch', type: 'percentage', percentage_off: '20' },
    ...{ cadence: 'repeated', duration_in_periods: 3, max_redemptions: 10 },
    metadata: { campaign: 'spring' },
  });
  await catalog.subscribe(await catalog.customer(), plan, { coupons: [coupon.id] });
  const rate = await api.postOk('/v1/taxes/rates', {
    ...{ name: 'VAT', code: 'vat', tax_rate_type: 'percentage', percentage_value: '21' },
    description: 'Value added tax',
  });
  const taxed = await catalog.customer({ name: 'Taxed Ltd' });
  for (const entity of [
    { entity_type: 'customer', entity_id: taxed.id },
    { entity_type: 'subscription', entity_id: (await catalog.subscribe(taxed, plan)).id },
  ])
    await api.postOk('/v1/taxes/associations', {
      ...{ ...entity, tax_rate_code: 'vat', auto_apply: true },
    });
  const endpoint = await api.postOk('/v1/webhooks/endpoints', { url: 'https://example.com/hooks' });
  const { costsheet } = await api.postOk('/v1/costs', { name: 'Costs' });
  await catalog.usage(costsheet, meter, { entity_type: 'COSTSHEET', amount: '0.004' });
  const bucket = await api.postOk('/v1/connections', {
    ...{ name: 'Archive', provider_type: 's3' },
    sync_config: { s3: { bucket: 'archive', region: 'eu-west-1' } },
  });
  const scheduled = await api.postOk('/v1/tasks/scheduled', {
    ...{ connection_id: bucket.id, entity_type: 'events', interval: 'daily', job_config: {} },
  });
  const clock = await api.postOk('/v1/test-clocks', {
    name: 'One year',
    now: '2026-01-01T00:00:00Z',
  });
  const at = new Date(api.clock.now() - 60_000).toISOString();
  const event = (event_id: string, properties: object) => ({
    event_id, event_name: 'completion', external_customer_id: 'acme', timestamp: at, source: 'test', properties,
  }); // prettier-ignore
  await world.send([
    event('counted', { tokens: 42, region: 'eu', model: 'small' }),
    event('other-region', { tokens: 7, region: 'asia', model: 'small' }),
    event('no-number', { tokens: 'many', region: 'us', model: 'large' }),
  ]);
  await world.send([event('counted', { tokens: 42, region: 'eu', model: 'small' })]);
  await world.settled();
  return recordsOf({
    addons: addon.id,
    'cost-sheets': costsheet.id,
    coupons: coupon.id,
    customers: customer.id,
    events: 'counted',
    features: feature.id,
    invoices: invoice.id,
    'late-usage': invoice.id,
    meters: meter.id,
    plans: plan.id,
    'price-groups': group.id,
    'scheduled-exports': scheduled.id,
    subscriptions: subscription.id,
    'tax-rates': rate.id,
    'test-clocks': clock.id,
    wallets: wallet.id,
    webhooks: endpoint.id,
  });
}
