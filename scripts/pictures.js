import { spawn, spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { chromium } from 'playwright-core';

/**
 * Starts the product on an empty folder, fills it with generated data, and takes a picture of every page of
 * the console, the portal and the payment page in light, dark and on a phone. With `--readme` the pictures of
 * README.md are replaced.
 *
 *     npm run pictures -- --out /tmp/pictures --only invoices
 */
const { values: options } = parseArgs({
  options: {
    out: { type: 'string', default: 'pictures' },
    events: { type: 'string', default: '20000' },
    /** Only pages whose name contains this text. */
    only: { type: 'string', default: '' },
    port: { type: 'string', default: '18090' },
    readme: { type: 'boolean', default: false },
  },
});
const CHROMIUM = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
const LOOKS = [
  { name: 'light', width: 1440, height: 900, colorScheme: 'light' },
  { name: 'dark', width: 1440, height: 900, colorScheme: 'dark' },
  { name: 'phone', width: 360, height: 740, colorScheme: 'light' },
];
const PASSWORD = 'correct horse battery';
const base = `http://127.0.0.1:${options.port}`;
const directory = mkdtempSync(join(tmpdir(), 'meterline-pictures-'));
const environment = {
  ...process.env,
  PORT: options.port,
  STREAM_PORT: String(Number(options.port) + 1),
  DATA_DIR: join(directory, 'data'),
};

const product = await start();
try {
  await takePictures();
} finally {
  product.kill('SIGTERM');
  await new Promise((resolve) => product.once('exit', resolve));
  rmSync(directory, { recursive: true, force: true });
}

/** The running product, ready. */
function start() {
  const child = spawn(process.execPath, ['dist/main/all.js'], { env: environment });
  let said = '';
  child.stderr.pipe(process.stderr);
  return new Promise((resolve, reject) => {
    child.once('exit', () => reject(new Error(`The product did not start: ${said}`)));
    child.stdout.on('data', (text) => {
      said += text;
      const token = /reset-password#(token=\S+)/.exec(said)?.[1];
      if (token === undefined || !said.includes('Ctrl-C')) return;
      child.firstToken = new URLSearchParams(token).get('token');
      child.email = /The first person is (\S+)\. /.exec(said)[1];
      resolve(child);
    });
  });
}

async function takePictures() {
  const seeding = spawnSync(process.execPath, ['dist/main/seed.js', '--events', options.events], {
    env: environment,
    stdio: 'inherit',
  });
  if (seeding.status !== 0) throw new Error('The environment could not be filled');
  const key = readFileSync(join(environment.DATA_DIR, 'api-key'), 'utf8').trim();
  const api = apiOf(key);
  await api('POST', '/auth/password/reset', {
    token: product.firstToken,
    new_password: PASSWORD,
  });
  const records = await recordsOf(api);
  mkdirSync(options.out, { recursive: true });
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM_PATH ?? CHROMIUM.find((path) => existsSync(path)),
    args: ['--no-sandbox', '--disable-gpu'],
  });
  for (const look of LOOKS) await takeLook(browser, look, api, records);
  if (options.readme) await takeReadme(browser, records);
  await browser.close();
}

async function takeLook(browser, { name, width, height, colorScheme }, api, records) {
  const context = await browser.newContext({
    viewport: { width, height },
    colorScheme,
    reducedMotion: 'reduce',
    timezoneId: 'UTC',
  });
  const page = await context.newPage();
  const save = async (path, address) => {
    const file = path.replace(/[^a-z0-9]+/gi, '-').replace(/^-|-$/g, '');
    if (!file.includes(options.only)) return;
    await page.goto(address, { waitUntil: 'networkidle' });
    await loaded(page);
    await page.screenshot({ path: join(options.out, `${file}.${name}.png`), fullPage: true });
  };
  for (const form of [
    'sign-in',
    'sign-up',
    'verify',
    'forgot-password',
    'reset-password',
    'company-sign-in',
  ])
    await save(`signed-out-${form}`, `${base}/${form === 'sign-in' ? '' : form}`);
  const home = await signIn(page);
  for (const path of pathsOf('web/console/routes.ts'))
    await save(`console${path === '/' ? '-home' : path}`, home + withRecord(path, records));
  for (const [path, tabs] of Object.entries(records.tabs))
    for (const tab of tabs)
      await save(`console${path}-${tab}`, `${home}${withRecord(path, records)}?tab=${tab}`);
  for (const [file, path] of Object.entries(records.dialogs))
    await save(`console-${file}`, home + path);
  for (const setting of records.settings)
    await save(`console-settings-${setting}`, `${home}/settings?setting=${setting}`);
  const { url } = await api('GET', `/customers/portal/${records.external_id}`);
  await page.goto(hereOf(url), { waitUntil: 'networkidle' });
  for (const path of pathsOf('web/portal/routes.ts'))
    await save(
      `portal${path === '/' ? '-overview' : path}`,
      `${base}/portal${withRecord(path, records)}`,
    );
  const { checkout_session } = await api('POST', '/invoices', {
    customer_id: records.customer,
    invoice_type: 'ONE_OFF',
    currency: 'usd',
    line_items: [{ display_name: 'Set-up', amount: '1234.5', quantity: '1' }],
    checkout: { payment_provider: 'test', success_url: 'https://shop.example/thanks' },
  });
  await save('checkout-payable', hereOf(checkout_session.payment_action.url));
  await save('checkout-unknown', `${base}/checkout/cs_none#secret`);
  await context.close();
}

/** The three pictures of README.md. */
async function takeReadme(browser, records) {
  const page = await browser.newPage({
    viewport: { width: 1280, height: 860 },
    colorScheme: 'light',
    reducedMotion: 'reduce',
    timezoneId: 'UTC',
  });
  const home = await signIn(page);
  for (const [file, path] of Object.entries(records.readme)) {
    await page.goto(home + path, { waitUntil: 'networkidle' });
    await loaded(page);
    if (file === 'price-calculator') await fillPrice(page);
    await page.waitForLoadState('networkidle');
    await loaded(page);
    await page.screenshot({ path: join(options.out, `${file}.png`) });
    copyFileSync(join(options.out, `${file}.png`), `docs/pictures/${file}.png`);
  }
}

/** A tiered price in its editor, and a quantity in the calculator beside it. */
async function fillPrice(page) {
  await page.getByLabel('Name').fill('Tokens');
  await page.getByLabel('Meter').selectOption({ label: 'Input tokens' });
  await page.getByLabel('Tier 1 up to').fill('500000');
  await page.getByLabel('Unit price').nth(0).fill('0.00003');
  await page.getByLabel('Unit price').nth(1).fill('0.00002');
  await page.getByLabel('Quantity', { exact: true }).fill('620000');
  await page.getByText('$17.40').first().waitFor();
}

/** Signs in. Returns the address of the environment. */
async function signIn(page) {
  await page.goto(base);
  await page.getByLabel('E-mail').fill(product.email);
  await page.getByLabel('Password').fill(PASSWORD);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor();
  return page.url().replace(/\/$/, '');
}

/** Nothing says that it loads. */
async function loaded(page) {
  const loading = page.getByText(/^Loading .* …$/);
  while ((await loading.count()) > 0) await loading.first().waitFor({ state: 'detached' });
}

/** The paths of a route table, which names components and cannot be imported here. */
function pathsOf(file) {
  return [...readFileSync(file, 'utf8').matchAll(/\{ path: '([^']+)'/g)].map(([, path]) => path);
}

function withRecord(path, records) {
  return path.replace(
    /^\/([a-z-]+)\/\$id/,
    (_, kind) => `/${kind}/${encodeURIComponent(records[kind])}`,
  );
}

/** The address of a link on the port of this run. */
function hereOf(link) {
  return link.replace(/^https?:\/\/[^/]+/, base);
}

function apiOf(key) {
  return async (method, path, body) => {
    const answer = await fetch(`${base}/v1${path}`, {
      method,
      headers: { 'x-api-key': key, ...(body ? { 'content-type': 'application/json' } : {}) },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    const value = await answer.json();
    if (!answer.ok) throw new Error(`${method} ${path}: ${JSON.stringify(value)}`);
    return value;
  };
}

/** One record for each page with an id, by the first part of its path. */
async function recordsOf(api) {
  const first = async (path, body = {}) => (await api('POST', `${path}/search`, body)).items[0];
  const wallet = await first('/wallets');
  const customer = await api('GET', `/customers/${wallet.customer_id}`);
  const ofCustomer = { customer_id: customer.id };
  const subscription = await first('/subscriptions', ofCustomer);
  const invoice = await first('/invoices', {
    ...ofCustomer,
    invoice_type: 'SUBSCRIPTION',
    invoice_status: ['FINALIZED'],
    sort: [{ field: 'total', direction: 'desc' }],
  });
  const feature = await first('/features');
  const meter = await first('/meters');
  const endpoint = await api('POST', '/webhooks/endpoints', {
    url: 'https://example.com/webhooks',
    description: 'Invoices and payments',
    event_types: ['invoice.update.finalized', 'payment.failed'],
  });
  const { events } = await api('POST', '/events/query', {
    external_customer_id: customer.external_id,
    start_time: new Date(Date.now() - 100 * 86_400_000).toISOString(),
    page_size: 1,
  });
  const largest = await first('/invoices', {
    invoice_status: ['FINALIZED'],
    sort: [{ field: 'total', direction: 'desc' }],
  });
  const { costsheet } = await api('POST', '/costs', { name: 'Costs of 2026' });
  await api('POST', '/prices', {
    ...{ entity_type: 'COSTSHEET', entity_id: costsheet.id, display_name: meter.name },
    ...{ type: 'USAGE', meter_id: meter.id, billing_model: 'FLAT_FEE', amount: '0.00001' },
    ...{ billing_period: 'MONTHLY', billing_period_count: 1, invoice_cadence: 'ARREAR' },
    ...{ price_unit_type: 'FIAT', currency: subscription.currency },
  });
  const bucket = await api('POST', '/connections', {
    ...{ name: 'Archive', provider_type: 's3' },
    sync_config: { s3: { bucket: 'archive', region: 'eu-west-1' } },
  });
  const scheduled = await api('POST', '/tasks/scheduled', {
    ...{ connection_id: bucket.id, entity_type: 'events', interval: 'daily', job_config: {} },
  });
  await api('POST', `/tasks/scheduled/${scheduled.id}/run`);
  const addon = await addonOf(api, subscription);
  const coupon = await couponOf(api, subscription);
  const rate = await rateOf(api, customer);
  const group = await groupOf(api, subscription);
  // Images have tiers; tokens have packages.
  const tiered = largest.line_items.find(({ display_name }) => display_name === 'Images');
  const line =
    invoice.line_items.find(({ price_type }) => price_type === 'USAGE') ?? invoice.line_items[0];
  return {
    customer: customer.id,
    external_id: customer.external_id,
    customers: customer.id,
    subscriptions: subscription.id,
    invoices: invoice.id,
    wallets: wallet.id,
    plans: subscription.plan_id,
    addons: addon.id,
    'price-groups': group.id,
    coupons: coupon.id,
    'tax-rates': rate.id,
    'late-usage': invoice.id,
    features: feature?.id ?? '',
    meters: meter.id,
    events: events[0].id,
    webhooks: endpoint.id,
    'cost-sheets': costsheet.id,
    'scheduled-exports': scheduled.id,
    'test-clocks': (await first('/test-clocks')).id,
    tabs: tabsOf(),
    settings: settingsOf(),
    dialogs: {
      why: `/invoices/${invoice.id}?line=${line.id}`,
      'live-events': '/events',
    },
    readme: {
      home: '/',
      'why-this-amount': `/invoices/${largest.id}?line=${tiered.id}`,
      'price-calculator': `/plans/${subscription.plan_id}/prices/new`,
    },
  };
}

/** An addon with one of each of its parts, on the subscription. */
async function addonOf(api, subscription) {
  const addon = await api('POST', '/addons', {
    ...{ name: 'Priority support', lookup_key: 'priority-support' },
    description: 'Answers within one hour, and more included usage',
  });
  await api('POST', '/prices', {
    ...{ entity_type: 'ADDON', entity_id: addon.id, display_name: 'Priority support' },
    ...{ type: 'FIXED', billing_model: 'FLAT_FEE', price_unit_type: 'FIAT', amount: '49' },
    ...{ billing_period: 'MONTHLY', billing_period_count: 1, invoice_cadence: 'ADVANCE' },
    currency: subscription.currency,
  });
  const [feature] = (await api('POST', '/features/search', { type: 'metered' })).items;
  await api('POST', '/entitlements', {
    ...{ entity_type: 'ADDON', entity_id: addon.id, feature_id: feature.id },
    ...{ feature_type: 'metered', usage_limit: 5_000, usage_reset_period: 'MONTHLY' },
  });
  await api('POST', '/creditgrants', {
    ...{ name: 'Welcome credits', scope: 'ADDON', addon_id: addon.id, credits: '25' },
    ...{ cadence: 'ONETIME', expiration_type: 'NEVER' },
  });
  await api('POST', '/subscriptions/addon', {
    subscription_id: subscription.id,
    addon_id: addon.id,
  });
  return addon;
}

/** A group of the usage prices of the plan, and a spend alert of the subscription on it. */
async function groupOf(api, subscription) {
  const group = await api('POST', '/groups', {
    ...{ name: 'Models', lookup_key: 'models', entity_type: 'price' },
  });
  const { items } = await api('POST', '/prices/search', {
    ...{ entity_ids: [subscription.plan_id], type: 'USAGE' },
  });
  for (const { id } of items) await api('PUT', `/prices/${id}`, { group_id: group.id });
  await api('POST', '/alerts/setting', {
    ...{ entity_type: 'group', entity_id: group.id },
    ...{ parent_entity_type: 'subscription', parent_entity_id: subscription.id },
    config: {
      alert_enabled: true,
      critical: { threshold: '500', condition: 'above' },
      warning: { threshold: '400', condition: 'above' },
    },
  });
  return group;
}

/** A coupon that the subscription has. */
async function couponOf(api, subscription) {
  const coupon = await api('POST', '/coupons', {
    ...{ name: 'Spring launch', coupon_code: 'spring', type: 'percentage', percentage_off: '20' },
    ...{ cadence: 'repeated', duration_in_periods: 3, max_redemptions: 100 },
    metadata: { campaign: 'spring' },
  });
  await api('POST', `/subscriptions/${subscription.id}/modify/execute`, {
    type: 'coupon',
    coupon_params: { action: 'add', coupon_code: 'spring' },
  });
  return coupon;
}

/** A tax rate that the customer has. */
async function rateOf(api, customer) {
  const rate = await api('POST', '/taxes/rates', {
    ...{ name: 'VAT Belgium', code: 'vat-be', tax_rate_type: 'percentage', percentage_value: '21' },
    description: 'Value added tax, standard rate',
  });
  await api('POST', '/taxes/associations', {
    ...{ tax_rate_code: 'vat-be', entity_type: 'customer', entity_id: customer.id },
    auto_apply: true,
  });
  return rate;
}

/** Tabs of the pages of records, except the first, which the page itself shows. */
function tabsOf() {
  const of = (file) =>
    [...readFileSync(file, 'utf8').matchAll(/\bid: '([a-z-]+)',\s+label: '/g)]
      .map(([, id]) => id)
      .slice(1);
  return {
    '/customers/$id': of('web/pages/customers/customer.tsx'),
    '/subscriptions/$id': of('web/pages/subscriptions/subscription.tsx'),
    '/invoices/$id': of('web/pages/invoices/invoice.tsx'),
    '/wallets/$id': of('web/pages/wallets/wallet.tsx'),
  };
}

function settingsOf() {
  return ['invoicing', 'portal', 'money', 'tenancy'].flatMap((part) =>
    [
      ...readFileSync(`web/pages/settings/forms/${part}.ts`, 'utf8').matchAll(
        /^  ([a-z_]+_(?:config|limits|filter)): /gm,
      ),
    ].map(([, key]) => key),
  );
}
