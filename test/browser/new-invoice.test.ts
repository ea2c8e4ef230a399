import { describeInBrowser } from '../support/requires.ts';
import { catalogOf } from '../support/catalog.ts';
import { mouse } from './hands.ts';
import { everyForm, settled, shifts } from './inspect.ts';
import { cell, goTo, titled } from './steps.ts';
import { startBrowserWorld, type BrowserWorld } from './world.ts';

const hands = mouse;

/** An invoice that a person writes, and a refund of it that the gateway does not make. */
describeInBrowser('one-off invoices', (executable) => {
  let shown: BrowserWorld;
  beforeAll(async () => {
    shown = await startBrowserWorld(executable);
  });
  afterAll(() => shown?.close());

  test('issued from the page of the customer, with a refusal at its field, a coupon and a tax', async () => {
    const { api } = shown.world;
    const customer = await catalogOf(api).customer({
      ...{ external_id: 'hudson', name: 'Hudson Inc', timezone: 'America/New_York' },
      billing_currency: 'eur',
    });
    const { page, problems } = await shown.signedIn();
    await page.goto(`${page.url().replace(/\/$/, '')}/customers/${customer.id}`);
    await titled(page, 'Hudson Inc');
    await hands.press(page.getByRole('link', { name: 'New invoice' }));
    await titled(page, 'New invoice');
    await page.getByText(/^Midnight, America\/New_York\./).waitFor();
    expect(await page.getByLabel('Currency').inputValue()).toBe('EUR');
    const submit = () => hands.press(page.getByRole('button', { name: 'Preview the invoice' }));
    await submit();
    await page.getByText('is required').first().waitFor();
    await hands.write(page.getByLabel('Line item 1', { exact: true }), 'Set-up');
    await hands.write(page.getByLabel(/^Amount in EUR/), '100.005');
    await hands.press(page.getByRole('button', { name: 'Add line item' }));
    await hands.write(page.getByLabel('Line item 2', { exact: true }), 'Training');
    await hands.write(page.getByLabel(/^Quantity/).nth(1), '2');
    await hands.write(page.getByLabel(/^Amount in EUR/).nth(1), '50');
    await hands.write(page.getByLabel(/^Due on/), '2020-01-01');
    await hands.choose(page.getByLabel(/^Coupon/), 'Launch');
    await hands.choose(page.getByLabel(/^Tax rate/), 'VAT: 21%');
    await submit();
    await page.locator('[aria-invalid="true"]').first().waitFor();
    expect(problems.splice(0).filter((text) => !/400/.test(text))).toEqual([]);
    await hands.write(page.getByLabel(/^Amount in EUR/).first(), '100');
    await hands.write(page.getByLabel(/^Due on/), '2036-07-01');
    await page.getByText('€150.00').waitFor();
    await settled(page);
    expect(await everyForm(page, 'one-off invoice')).toEqual([]);
    await page.setViewportSize({ width: 1440, height: 900 });
    await submit();
    const dialog = page.getByRole('dialog', { name: 'Issue this invoice?' });
    const document = dialog.getByRole('article', { name: 'Invoice document' });
    // 150.00 less 30.00, with 21 %.
    await document.getByText('€145.20').first().waitFor();
    await settled(page);
    expect(await everyForm(page, 'preview of a one-off invoice')).toEqual([]);
    await page.setViewportSize({ width: 1440, height: 900 });
    const issued = async () =>
      (await api.get(`/v1/invoices?customer_id=${customer.id}`)).body.items.length;
    expect(await issued()).toBe(0);
    await hands.press(dialog.getByRole('button', { name: 'Issue invoice' }));
    await page.waitForURL(/\/invoices\/inv_/);
    await page.getByRole('article', { name: 'Invoice document' }).waitFor();
    expect(await issued()).toBe(1);
    const id = page.url().split('/').at(-1)!;
    expect((await api.get(`/v1/invoices/${id}`)).body).toMatchObject({
      ...{ customer_id: customer.id, currency: 'eur', invoice_status: 'FINALIZED' },
      ...{ subtotal: '150', total_discount: '30', due_date: '2036-07-01T04:00:00.000Z' },
      line_items: [
        { display_name: 'Set-up', quantity: '1', amount: '100' },
        { display_name: 'Training', quantity: '2', amount: '50' },
      ],
      taxes: [{ percentage_value: '21' }],
    });
    expect(problems).toEqual([]);
    await page.context().close();
  });

  test('the customer is asked for first, and nothing that is shown moves', async () => {
    const { page, problems } = await shown.signedIn();
    const home = page.url().replace(/\/$/, '');
    await goTo(page, 'Invoices', hands);
    await hands.press(page.getByRole('link', { name: 'New invoice' }));
    await titled(page, 'New invoice');
    await page.goto(page.url());
    const found = page.getByRole('list', { name: 'Customer' });
    await found.getByRole('button', { name: /^Acme Inc/ }).waitFor();
    await settled(page);
    expect(await shifts(page, 'without a customer')).toEqual([]);
    expect(await page.getByLabel('Currency').count()).toBe(0);
    await hands.press(found.getByRole('button', { name: /^Acme Inc/ }));
    await page.getByLabel('Currency').waitFor();
    await page.goto(`${home}/invoices/new?customer_id=${shown.records.get('/customers/$id')}`);
    await page.getByLabel('Currency').waitFor();
    await settled(page);
    expect(await shifts(page, 'with a customer')).toEqual([]);
    expect(problems).toEqual([]);
    await page.context().close();
  });

  test('a refund that the gateway declined is paid into the wallet', async () => {
    const { api } = shown.world;
    await api.postOk('/v1/connections', { name: 'Test', provider_type: 'test' });
    const customer = await catalogOf(api).customer({ name: 'Refunded Ltd' });
    const invoice = await api.postOk('/v1/invoices', {
      ...{ customer_id: customer.id, invoice_type: 'ONE_OFF', currency: 'usd' },
      line_items: [{ display_name: 'Set-up', amount: '50', quantity: '1' }],
    });
    const payment = await api.postOk('/v1/payments', {
      ...{ destination_type: 'INVOICE', destination_id: invoice.id, amount: '50' },
      ...{ currency: 'usd', payment_method_type: 'CARD', payment_gateway: 'test' },
      ...{ payment_method_id: 'pm_test_success', process_payment: true },
    });
    // The test gateway declines refunds of an amount that ends like this.
    const refund = await api.postOk('/v1/refunds', {
      ...{ payment_id: payment.id, amount: '20.13', target: 'BACK_TO_SOURCE' },
    });
    const { page, problems } = await shown.signedIn();
    await page.goto(`${page.url().replace(/\/$/, '')}/invoices/${invoice.id}?tab=payments`);
    await cell(page, 'List of refunds', 'Failed').waitFor();
    await hands.press(page.getByRole('button', { name: 'Retry' }));
    const dialog = page.getByRole('dialog', { name: 'Retry this refund?' });
    await dialog.getByText('$20.13').waitFor();
    await settled(page);
    expect(await everyForm(page, 'refund, retry')).toEqual([]);
    await page.setViewportSize({ width: 1440, height: 900 });
    await hands.press(dialog.getByRole('button', { name: 'Pay into the wallet' }));
    await cell(page, 'List of refunds', 'Succeeded').waitFor();
    await page.getByRole('button', { name: 'Retry' }).waitFor({ state: 'detached' });
    const { items } = (await api.get(`/v1/refunds?invoice_id=${invoice.id}`)).body;
    expect(items.find((one: { retry_of: string }) => one.retry_of === refund.id)).toMatchObject({
      ...{ refund_status: 'SUCCEEDED', refund_target: 'PREPAID_WALLET', amount: '20.13' },
    });
    const { body: wallets } = await api.get(`/v1/customers/${customer.id}/wallets`);
    expect(wallets).toMatchObject([{ balance: '20.13' }]);
    expect(problems).toEqual([]);
    await page.context().close();
  });
});
