import { describeInBrowser } from '../support/requires.ts';
import { everyForm, settled, shifts } from './inspect.ts';
import { startBrowserWorld, type BrowserWorld, type Watched } from './world.ts';

/** The pages that customers open by a link: checkout and portal. */
describeInBrowser('hosted pages', (executable) => {
  let shown: BrowserWorld;
  beforeAll(async () => {
    shown = await startBrowserWorld(executable);
    await shown.world.api.postOk('/v1/connections', { name: 'Test', provider_type: 'test' });
  });
  afterAll(() => shown?.close());

  /** The address of a link on the port of this test. */
  const here = (link: string): string => link.replace(/^https?:\/\/[^/]+/, shown.url);

  /** An invoice that waits for its payment, and the link of its page. */
  const checkout = async (line: object = {}): Promise<any> => {
    const { checkout_session } = await shown.world.api.postOk('/v1/invoices', {
      customer_id: shown.records.get('/customers/$id'),
      invoice_type: 'ONE_OFF',
      currency: 'usd',
      line_items: [{ display_name: 'Set-up', amount: '1234567.89', quantity: '1', ...line }],
      checkout: { payment_provider: 'test', success_url: 'https://shop.example/thanks' },
    });
    return checkout_session;
  };
  const visit = async (address: string): Promise<Watched> => {
    const watched = await shown.fresh();
    await watched.page.goto(address);
    return watched;
  };

  test('checkout by keyboard: declined, confirmed, paid; the secret leaves the address; axe finds nothing in any state', async () => {
    const session = await checkout();
    const { page, problems } = await visit(here(session.payment_action.url));
    const found: string[] = [];
    await page.getByRole('heading', { name: 'Pay Test' }).waitFor();
    await settled(page);
    expect(page.url()).toBe(`${shown.url}/checkout/${session.id}`);
    expect(await page.evaluate(kept)).toEqual([]);
    await page.getByRole('table').getByText('$1,234,567.89').waitFor();
    expect(await page.getByRole('timer').textContent()).toMatch(/^\d+:\d\d$/);
    found.push(...(await shifts(page, 'checkout')), ...(await everyForm(page, 'checkout-payable')));

    await page.getByRole('button', { name: 'Decline the card' }).press('Enter');
    await page.getByRole('alert').filter({ hasText: 'declined (card declined)' }).waitFor();
    found.push(...(await everyForm(page, 'checkout-declined')));

    await page.getByRole('button', { name: /3-D Secure/ }).press('Enter');
    await page.getByText('Your bank asks you to confirm').waitFor();
    found.push(...(await everyForm(page, 'checkout-confirm')));

    await page.getByRole('button', { name: 'Confirm the payment' }).press('Enter');
    await page.getByRole('heading', { name: 'Paid' }).waitFor();
    const back = page.getByRole('link', { name: 'Return to shop.example' });
    expect(await back.getAttribute('href')).toBe('https://shop.example/thanks');
    // What is paid is not due.
    await page.getByText('Amount paid', { exact: true }).waitFor();
    found.push(...(await everyForm(page, 'checkout-paid')));
    const { body } = await shown.world.api.get(`/v1/invoices/${session.checkout_invoice_id}`);
    expect(body).toMatchObject({ payment_status: 'SUCCEEDED', amount_paid: '1234567.89' });

    // The secret is gone with the page.
    await page.reload();
    await page.getByRole('heading', { name: 'This link is not valid' }).waitFor();
    expect([...found, ...problems]).toEqual([]);
    await page.context().close();
  });

  test('checkout: each coupon and each tax has a row with its name', async () => {
    const { api } = shown.world;
    const coupon = await api.postOk('/v1/coupons', {
      ...{ name: 'Spring', type: 'percentage', percentage_off: '10', cadence: 'forever' },
    });
    const vat = await api.postOk('/v1/taxes/rates', {
      ...{ name: 'VAT Belgium', code: 'vat-be', percentage_value: '21' },
      tax_rate_type: 'percentage',
    });
    const { checkout_session } = await api.postOk('/v1/invoices', {
      ...{ customer_id: shown.records.get('/customers/$id'), invoice_type: 'ONE_OFF' },
      ...{ currency: 'usd', coupons: [coupon.id], tax_rates: [vat.id] },
      line_items: [{ display_name: 'Set-up', amount: '100', quantity: '1' }],
      checkout: { payment_provider: 'test' },
    });
    const { page, problems } = await visit(here(checkout_session.payment_action.url));
    await page.getByText('Spring, 10%').waitFor();
    expect(await page.locator('dl').innerText()).toMatch(
      /Subtotal\s+\$100\.00\s+Spring, 10%\s+−\$10\.00\s+VAT Belgium, 21%\s+\$18\.90\s+Amount due\s+\$108\.90/,
    );
    expect(problems).toEqual([]);
    await page.context().close();
  });

  test('checkout: a lost answer offers no second payment', async () => {
    const session = await checkout();
    const { page, problems } = await visit(here(session.payment_action.url));
    await page.getByRole('button', { name: 'Pay, but lose the answer' }).press('Enter');
    await page.getByText('The answer of the gateway was lost.').waitFor();
    expect(await page.getByRole('button', { name: /^Pay/ }).count()).toBe(0);
    // A gateway is asked again after some seconds.
    shown.world.api.clock.advance(10_000);
    await page.getByRole('heading', { name: 'Paid' }).waitFor();
    expect(problems).toEqual([]);
    await page.context().close();
  });

  test('checkout: cancelled, expired, and an invalid link; hostile names run nothing and overflow nothing', async () => {
    const { api } = shown.world;
    const found: string[] = [];
    const wanted: [string, (session: any) => Promise<unknown>][] = [
      ['The payment was cancelled', ({ id }) => api.post(`/v1/checkout/sessions/${id}/cancel`)],
      [
        'The time to pay is over',
        ({ id, created_at }) =>
          api.pool`update checkout_sessions set expires_at = ${created_at} where id = ${id}`,
      ],
    ];
    for (const [title, end] of wanted) {
      const display_name = `<script>alert(1)</script> ${'شركة '.repeat(10)}${'x'.repeat(150)}`;
      const session = await checkout({ display_name });
      if (title.includes('time')) {
        // The end is part of the link: it is read after the session ended.
        await end(session);
        const { body } = await api.get(`/v1/checkout/sessions/${session.id}`);
        session.payment_action = body.payment_action;
      } else await end(session);
      const { page, problems } = await visit(here(session.payment_action.url));
      await page.getByRole('heading', { name: title }).waitFor();
      await page.getByText('Amount, not paid', { exact: true }).waitFor();
      await settled(page);
      found.push(...(await shifts(page, `checkout-${title}`)));
      for (const width of [360, 1440]) {
        await page.setViewportSize({ width, height: 900 });
        // In sight beside the long name, and above the sum: the last digits are in one line.
        const ends = await page.getByText('$1,234,567.89', { exact: true }).evaluateAll(rightsOf);
        expect([title, width, ends.length, new Set(ends).size]).toEqual([title, width, 3, 1]);
      }
      found.push(...(await everyForm(page, `checkout-${title}`)), ...problems);
      await page.context().close();
    }
    const { page } = await visit(`${shown.url}/checkout/cs_none#secret`);
    await page.getByRole('heading', { name: 'This link is not valid' }).waitFor();
    found.push(...(await everyForm(page, 'checkout-unknown')));
    await page.context().close();
    expect(found).toEqual([]);
  });
});

/** Runs in the page: where the elements end, in pixels. */
const rightsOf = (elements: unknown[]): number[] =>
  (elements as { getBoundingClientRect(): { readonly right: number } }[]).map((element) =>
    Math.round(element.getBoundingClientRect().right),
  );

/** Runs in the page: the content of the browser's storage. */
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
