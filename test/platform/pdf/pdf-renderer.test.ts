import { createPdfRenderer, type PdfRenderer } from '../../../platform/pdf/pdf-renderer.ts';
import type { PrintedDocument } from '../../../platform/pdf/printed-document.ts';
import { SOURCE_EXEC_ARGV } from '../../support/global-setup.ts';
import { readPdf } from '../../support/read-pdf.ts';

let renderer: PdfRenderer;
beforeAll(() => {
  renderer = createPdfRenderer({ execArgv: SOURCE_EXEC_ARGV });
});
afterAll(() => renderer.close());

const document = (more: Partial<PrintedDocument> = {}): PrintedDocument => ({
  heading: 'Invoice 7',
  stamp: null,
  footer: 'Acme',
  author: 'Acme',
  dated: '2026-11-22T12:00:00.000Z',
  accent: '#1d4ed8',
  logo: null,
  facts: [{ label: 'Issued', value: '22 November 2026' }],
  parties: [],
  table: {
    columns: [
      { heading: 'Description', share: 0.7, align: 'left' },
      { heading: 'Amount', share: 0.3, align: 'right' },
    ],
    groups: [{ heading: null, rows: [{ cells: ['Seats', '$10.00'], detail: null }] }],
  },
  totals: [{ label: 'Total', value: '$10.00', isStrong: true }],
  notes: [],
  annex: [],
  ...more,
});

const rowsOf = (count: number, cell: (row: number) => string): PrintedDocument['table'] => ({
  ...document().table,
  groups: [
    {
      heading: null,
      rows: Array.from({ length: count }, (_, row) => ({
        cells: [cell(row), `$${row}.00`],
        detail: null,
      })),
    },
  ],
});

describe('a printed document', () => {
  test('contains every text, and its title', async () => {
    const { text, title, pages } = await readPdf(await renderer.render(document()));
    for (const part of ['Invoice 7', '22 November 2026', 'Seats', 'Total', '$10.00', 'Acme'])
      expect(text).toContain(part);
    expect({ title, pages }).toEqual({ title: 'Invoice 7', pages: 1 });
  });

  test('has the same bytes each time', async () => {
    const [first, second] = [await renderer.render(document()), await renderer.render(document())];
    expect(Buffer.from(first).equals(Buffer.from(second))).toBe(true);
  });

  test('has the same bytes after other documents were printed', async () => {
    const fresh = createPdfRenderer({ execArgv: SOURCE_EXEC_ARGV });
    try {
      await renderer.render(document({ heading: 'Office, 10.0', notes: ['Seats office'] }));
      const [later, first] = [await renderer.render(document()), await fresh.render(document())];
      expect(Buffer.from(later).equals(Buffer.from(first))).toBe(true);
    } finally {
      await fresh.close();
    }
  });

  test('repeats the headings of the table on each page, and loses no row', async () => {
    const { text, pages } = await readPdf(
      await renderer.render(document({ table: rowsOf(200, (row) => `Row ${row}.`) })),
    );
    expect(pages).toBeGreaterThan(3);
    expect(text.match(/Description/g)).toHaveLength(pages);
    for (let row = 0; row < 200; row++) expect(text).toContain(`Row ${row}.`);
  });

  test.each([
    ['Japanese', '株式会社メーターライン'],
    ['Korean', '한국전력공사'],
    ['Chinese', '北京测试科技有限公司'],
    ['Greek and Cyrillic', 'Ελληνικά Кириллица'],
    ['Vietnamese', 'Công ty Trách nhiệm Hữu hạn'],
    ['Georgian', 'შპს კომპანია'],
    ['Armenian', 'Ընկերություն'],
    ['Thai', 'บริษัท'],
    ['Turkish and Polish', 'Şirketi Łódź Žižkov'],
  ])('prints %s letters', async (_script, name) => {
    const parties = [{ heading: 'BILL TO', lines: ['x', name] }];
    const { text } = await readPdf(await renderer.render(document({ parties })));
    const squeezed = (value: string): string => value.normalize('NFC').replace(/\s/g, '');
    expect(squeezed(text)).toContain(squeezed(name));
  });

  test.each([
    ['Hebrew', 'שלום (חברה) 12', 'שלום'],
    ['Arabic', 'شركة الفوترة 2026', '2026'],
    ['Hindi', 'बिलिंग कंपनी', 'क'],
    ['Bengali', 'লিমিটেড', 'ট'],
    ['Tamil and Telugu', 'நிறுவனம் సంస్థ', 'ந'],
  ])('prints %s letters, none replaced', async (_script, name, part) => {
    const parties = [{ heading: 'BILL TO', lines: ['x', name] }];
    const { text } = await readPdf(await renderer.render(document({ parties })));
    expect(text).toContain(part);
    expect(text).not.toContain('?');
  });

  test('prints ? for a character without a glyph', async () => {
    const notes = ['a \u{10FFFD} b'];
    const { text } = await readPdf(await renderer.render(document({ notes })));
    expect(text).toContain('a ? b');
  });

  test('treats markup, PDF syntax and control characters as text', async () => {
    const hostile = '<script>alert(1)</script> (a) \\) /JS (app.alert(1)) =1+1 endstream';
    const { text } = await readPdf(
      await renderer.render(document({ notes: [hostile, 'a\u0000b\u0007c'] })),
    );
    expect(text.replace(/\s+/g, ' ')).toContain(hostile);
    expect(text).toContain('a b c');
  });

  test('wraps a word that is wider than the page', async () => {
    const { text } = await readPdf(await renderer.render(document({ notes: ['w'.repeat(500)] })));
    expect(text.match(/w/g)).toHaveLength(500);
  });

  test('prints 10,000 rows with an annex', async () => {
    const annex = Array.from({ length: 10_000 }, (_, row) => ({
      heading: `Row ${row}`,
      text: 'usage: SUM 12.5\nrate: 2 × 12.5 = 25',
    }));
    const table = rowsOf(10_000, (row) => `Row ${row}.`);
    const bytes = await renderer.render(document({ table, annex }));
    expect(Buffer.from(bytes).subarray(0, 5).toString()).toBe('%PDF-');
  });

  test('refuses a document beyond the limits, and prints the next one', async () => {
    const annex = [{ heading: 'Long', text: 'a\n'.repeat(400_000) }];
    await expect(renderer.render(document({ annex }))).rejects.toMatchObject({
      code: 'document_too_long',
    });
    const { text } = await readPdf(await renderer.render(document()));
    expect(text).toContain('Seats');
  });
});
