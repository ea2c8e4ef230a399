import { startTestApi, type TestApi } from '../../support/api.ts';
import { catalogOf } from '../../support/catalog.ts';
import { readPdf } from '../../support/read-pdf.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.close());

const LOGO =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

async function invoice(caller: Pick<TestApi, 'post' | 'get'> = api) {
  const catalog = catalogOf(caller as TestApi);
  const plan = await catalog.plan('Pro');
  await catalog.fixed(plan, '1234.5', { display_name: 'Platform fee' });
  const customer = await catalog.customer({ name: 'Müller & Söhne', timezone: 'Europe/Berlin' });
  const subscription = await catalog.subscribe(customer, plan);
  return { customer, invoice: subscription.latest_invoice };
}

const fileOf = (body: unknown): Uint8Array => body as Uint8Array;

async function pdfOf(path: string) {
  const answer = await api.app.inject({
    method: 'GET',
    url: path,
    headers: { 'x-api-key': api.key },
  });
  return { ...answer, headers: answer.headers, bytes: fileOf(answer.rawPayload) };
}

describe('an invoice as a PDF file', () => {
  test('shows the customer, the rows and the totals', async () => {
    const { invoice: made } = await invoice();
    const { statusCode, headers, bytes } = await pdfOf(`/v1/invoices/${made.id}/pdf`);
    expect(statusCode).toBe(200);
    expect(headers).toMatchObject({
      'content-type': 'application/pdf',
      'cache-control': 'private, no-store',
      'content-disposition': `inline; filename="invoice-${made.invoice_number}.pdf"`,
    });
    const { text, title } = await readPdf(bytes);
    expect(title).toBe(`Invoice ${made.invoice_number}`);
    for (const part of ['Müller & Söhne', 'Platform fee', '$1,234.50', 'Amount payable'])
      expect(text).toContain(part);
  });

  test('has the same bytes each time, and the explanations on request', async () => {
    const { invoice: made } = await invoice();
    const [first, second, annex] = [
      await pdfOf(`/v1/invoices/${made.id}/pdf`),
      await pdfOf(`/v1/invoices/${made.id}/pdf?force_generate=true`),
      await pdfOf(`/v1/invoices/${made.id}/pdf?annex=true`),
    ];
    expect(Buffer.from(first.bytes).equals(Buffer.from(second.bytes))).toBe(true);
    expect((await readPdf(first.bytes)).text).not.toContain('Rounding');
    expect((await readPdf(annex.bytes)).text).toContain('billing 2.3');
  });

  test('takes logo, colour, address, tax ids, notes and headings from the settings', async () => {
    const { invoice: made } = await invoice();
    const plain = await pdfOf(`/v1/invoices/${made.id}/pdf`);
    const setting = await api.put('/v1/settings/invoice_pdf_config', {
      value: {
        template_name: 'invoice.typ',
        group_by: ['plan_display_name'],
        logo: LOGO,
        colors: { accent: '#ff0000' },
        address: 'Street 1\n10115 Berlin',
        tax_ids: ['DE123456789'],
        notes: 'Pay by transfer.',
      },
    });
    expect(setting.status).toBe(200);
    const shown = await pdfOf(`/v1/invoices/${made.id}/pdf`);
    const { text } = await readPdf(shown.bytes);
    for (const part of ['Pro', 'Street 1', '10115 Berlin', 'DE123456789', 'Pay by transfer.'])
      expect(text).toContain(part);
    expect(Buffer.from(shown.bytes).includes('/Subtype /Image')).toBe(true);
    expect(shown.bytes.length).toBeGreaterThan(plain.bytes.length);
  });

  test.each([
    ['a text', 'logo.png'],
    ['an address', 'https://example.com/logo.png'],
    ['a drawing', 'data:image/svg+xml;base64,PHN2Zy8+'],
    ['bytes that are no image', 'data:image/png;base64,AAAA'],
    ['too many pixels', `data:image/png;base64,${tooLarge()}`],
  ])('refuses %s as a logo', async (_name, logo) => {
    const { status, body } = await api.put('/v1/settings/invoice_pdf_config', {
      value: { template_name: 'invoice.typ', logo },
    });
    expect([status, body.details[0].path]).toEqual([400, 'value.logo']);
  });

  test('gives a link that works without a key, for one hour', async () => {
    const { invoice: made } = await invoice();
    const { status, body } = await api.get(`/v1/invoices/${made.id}/pdf?url=true`);
    expect([status, Object.keys(body)]).toEqual([200, ['presigned_url']]);
    const { pathname } = new URL(body.presigned_url);
    const open = (url: string) => api.app.inject({ method: 'GET', url });
    const shown = await open(pathname);
    expect([shown.statusCode, shown.headers['content-type']]).toEqual([200, 'application/pdf']);
    const other = await api.newCaller();
    const moved = pathname.replace(api.scope.tenant_id, other.scope.tenant_id);
    expect((await open(moved)).statusCode).toBe(404);
    expect((await open(`${pathname.slice(0, -2)}AA`)).statusCode).toBe(404);
    api.clock.advance(3_600_000);
    expect((await open(pathname)).statusCode).toBe(404);
  });

  test('is not found in another tenant', async () => {
    const { invoice: made } = await invoice();
    const other = await api.newCaller();
    expect((await other.get(`/v1/invoices/${made.id}/pdf`)).status).toBe(404);
    expect((await other.get(`/v1/invoices/${made.id}/pdf?url=true`)).status).toBe(404);
  });

  test('in the portal belongs to the customer of the session', async () => {
    const [mine, theirs] = [await invoice(), await invoice()];
    const opened = await api.get(`/v1/customers/portal/${mine.customer.external_id}`);
    const get = (id: string) =>
      api.app.inject({
        method: 'GET',
        url: `/v1/customer/portal/invoices/${id}/pdf`,
        headers: { 'x-session-token': opened.body.token },
      });
    const { presigned_url } = (await get(mine.invoice.id)).json<{ presigned_url: string }>();
    const shown = await api.app.inject({ method: 'GET', url: new URL(presigned_url).pathname });
    expect((await readPdf(shown.rawPayload)).text).toContain('Platform fee');
    expect((await get(theirs.invoice.id)).statusCode).toBe(404);
  });
});

/** The header of a PNG of 65,535 × 65,535 pixels. */
function tooLarge(): string {
  const bytes = Buffer.alloc(64);
  bytes.write('89504e470d0a1a0a0000000d49484452', 'hex');
  bytes.writeUInt32BE(65_535, 16);
  bytes.writeUInt32BE(65_535, 20);
  return bytes.toString('base64');
}
