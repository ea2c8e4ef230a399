import PDFDocument from 'pdfkit';
import type { FontFamilies } from './font-families.ts';
import { PageFlow } from './page-flow.ts';
import type {
  PrintedColumn,
  PrintedDocument,
  PrintedRow,
  PrintedTable,
} from './printed-document.ts';
import type { StaticFonts } from './static-fonts.ts';
import { TextPen, type TextLook } from './text-pen.ts';

const MUTED = '#667085';
const RULE = '#d0d5dd';
const TITLE: TextLook = { size: 22, weight: 700 };
const HEADING: TextLook = { size: 8, weight: 700, colour: MUTED };
const BODY: TextLook = { size: 9 };
const STRONG: TextLook = { size: 9, weight: 700 };
const DETAIL: TextLook = { size: 7.5, colour: MUTED };
const FIXED: TextLook = { size: 7, style: 'monospaced' };
const LOOKS = [BODY, STRONG, FIXED] as const;

const COLUMN_GAP = 10;
const FACT_WIDTH = 240;
const LABEL_WIDTH = 100;
const TOTALS_WIDTH = 260;
const LOGO = { width: 160, height: 48 };

/**
 * The document as a PDF file. The same document gives the same bytes. Reads no network, and no files other than
 * the embedded fonts.
 */
export async function drawDocument(
  document: PrintedDocument,
  families: FontFamilies,
  fonts: StaticFonts,
): Promise<Uint8Array> {
  const pdf = new PDFDocument({
    size: 'A4',
    autoFirstPage: false,
    // No default font: every text chooses one, and reading the metrics of Helvetica takes 1 ms.
    font: '',
    margin: 0,
    info: {
      Title: document.heading,
      Author: document.author,
      CreationDate: new Date(document.dated),
      Producer: 'Meterline',
      Creator: 'Meterline',
    },
  });
  const chunks: Uint8Array[] = [];
  pdf.on('data', (chunk: Uint8Array) => chunks.push(chunk));
  const ended = new Promise<void>((resolve, reject) => {
    pdf.on('end', resolve);
    pdf.on('error', reject);
  });
  const pen = new TextPen(pdf, families, fonts);
  const texts = [...textsOf(document)];
  for (const look of LOOKS) await pen.prepare(look === FIXED ? annexTexts(document) : texts, look);
  const flow = new PageFlow(pdf, pen, document.footer);

  drawHead(document, pdf, pen, flow);
  drawParties(document, pen, flow);
  drawTable(document, pdf, pen, flow);
  drawTotals(document, pdf, pen, flow);
  for (const note of document.notes) drawParagraph(note, pen, flow);
  if (document.annex.length > 0) drawAnnex(document, pen, flow);
  pdf.end();
  await ended;
  return Buffer.concat(chunks);
}

function* textsOf(document: PrintedDocument): Generator<string> {
  yield '0 …';
  yield document.heading;
  yield document.footer;
  if (document.stamp !== null) yield document.stamp;
  for (const { label, value } of [...document.facts, ...document.totals]) yield `${label}${value}`;
  for (const { heading, lines } of document.parties) yield* [heading, ...lines];
  for (const { heading } of document.table.columns) yield heading;
  for (const { heading, rows } of document.table.groups) {
    if (heading !== null) yield heading;
    for (const { cells, detail } of rows) yield* detail === null ? cells : [...cells, detail];
  }
  for (const note of document.notes) yield* note.split('\n');
  for (const { heading } of document.annex) yield heading;
}

function* annexTexts(document: PrintedDocument): Generator<string> {
  for (const { text } of document.annex) yield* text.split('\n');
}

type Pdf = InstanceType<typeof PDFDocument>;

function drawHead(document: PrintedDocument, pdf: Pdf, pen: TextPen, flow: PageFlow): void {
  const { left, width } = flow;
  const { top } = flow;
  if (document.logo !== null) {
    const bytes = Buffer.from(document.logo.slice(document.logo.indexOf(',') + 1), 'base64');
    pdf.image(bytes, left + width - LOGO.width, top, {
      fit: [LOGO.width, LOGO.height],
      align: 'right',
    });
  }
  const headingWidth = width - LOGO.width - COLUMN_GAP;
  for (const line of pen.lines(document.heading, headingWidth, TITLE))
    flow.line(line, { ...TITLE, colour: document.accent });
  if (document.stamp !== null) flow.line(document.stamp, { ...STRONG, colour: document.accent });
  flow.atLeast(top + LOGO.height);
  flow.space(14);
  for (const { label, value } of document.facts) {
    const lines = pen.lines(value, FACT_WIDTH, BODY);
    flow.band(lines.length, BODY, (line, rowTop) => {
      if (line === 0)
        pen.draw(label, { left, top: rowTop, width: LABEL_WIDTH }, { ...BODY, colour: MUTED });
      pen.draw(lines[line]!, { left: left + LABEL_WIDTH, top: rowTop, width: FACT_WIDTH }, BODY);
    });
  }
  flow.space(14);
}

function drawParties({ parties }: PrintedDocument, pen: TextPen, flow: PageFlow): void {
  if (parties.length === 0) return;
  const width = flow.width / parties.length - COLUMN_GAP;
  const blocks = parties.map(({ heading, lines }) => ({
    heading,
    lines: lines.flatMap((line) => pen.lines(line, width, BODY)),
  }));
  const rows = Math.max(...blocks.map(({ lines }) => lines.length));
  const leftOf = (index: number): number => flow.left + index * (width + COLUMN_GAP);
  flow.band(1, HEADING, (_, top) =>
    blocks.forEach(({ heading }, index) =>
      pen.draw(heading, { left: leftOf(index), top, width }, HEADING),
    ),
  );
  flow.band(rows, BODY, (line, top) =>
    blocks.forEach(({ lines }, index) =>
      pen.draw(lines[line] ?? '', { left: leftOf(index), top, width }, line === 0 ? STRONG : BODY),
    ),
  );
  flow.space(18);
}

interface PlacedColumn extends PrintedColumn {
  readonly left: number;
  readonly width: number;
}

function placed({ columns }: PrintedTable, flow: PageFlow): PlacedColumn[] {
  let { left } = flow;
  return columns.map((column) => {
    const full = flow.width * column.share;
    const place = { ...column, left, width: full - COLUMN_GAP };
    left += full;
    return place;
  });
}

function drawTable(
  { table, accent }: PrintedDocument,
  pdf: Pdf,
  pen: TextPen,
  flow: PageFlow,
): void {
  const columns = placed(table, flow);
  const drawHeadings = (): void => {
    flow.band(1, HEADING, (_, top) =>
      columns.forEach((column) => pen.draw(column.heading, { ...column, top }, HEADING)),
    );
    flow.rule(pdf, accent);
  };
  drawHeadings();
  flow.onNewPage = drawHeadings;
  for (const { heading, rows } of table.groups) {
    if (heading !== null) {
      flow.space(4);
      flow.line(heading, STRONG);
    }
    for (const row of rows) drawRow(row, columns, pdf, pen, flow);
  }
  flow.onNewPage = null;
}

function drawRow(
  { cells, detail }: PrintedRow,
  columns: readonly PlacedColumn[],
  pdf: Pdf,
  pen: TextPen,
  flow: PageFlow,
): void {
  const wrapped = columns.map((column, index) => pen.lines(cells[index]!, column.width, BODY));
  const count = Math.max(...wrapped.map((lines) => lines.length));
  flow.space(3);
  flow.band(count, BODY, (line, top) =>
    columns.forEach((column, index) =>
      pen.draw(wrapped[index]![line] ?? '', { ...column, top }, BODY),
    ),
  );
  if (detail !== null) {
    const first = columns[0]!;
    const lines = pen.lines(detail, first.width, DETAIL);
    flow.band(lines.length, DETAIL, (line, top) =>
      pen.draw(lines[line]!, { ...first, top, align: 'left' }, DETAIL),
    );
  }
  flow.space(3);
  flow.rule(pdf, RULE);
}

function drawTotals(
  { totals, accent }: PrintedDocument,
  pdf: Pdf,
  pen: TextPen,
  flow: PageFlow,
): void {
  flow.space(8);
  flow.keep(totals.length * BODY.size * 1.6);
  const left = flow.left + flow.width - TOTALS_WIDTH;
  const width = TOTALS_WIDTH - COLUMN_GAP;
  const half = width / 2;
  for (const { label, value, isStrong } of totals) {
    const look = isStrong ? STRONG : BODY;
    if (isStrong) flow.rule(pdf, accent, left);
    const lines = pen.lines(label, half + 20, look);
    flow.band(lines.length, look, (line, top) => {
      pen.draw(lines[line]!, { left, top, width: half + 20 }, look);
      if (line === 0)
        pen.draw(value, { left: left + half, top, width: half, align: 'right' }, look);
    });
  }
  flow.space(12);
}

function drawParagraph(text: string, pen: TextPen, flow: PageFlow): void {
  for (const line of pen.lines(text, flow.width, BODY)) flow.line(line, BODY);
  flow.space(6);
}

function drawAnnex({ annex }: PrintedDocument, pen: TextPen, flow: PageFlow): void {
  flow.newPage();
  for (const { heading, text } of annex) {
    flow.keep(60);
    for (const line of pen.lines(heading, flow.width, STRONG)) flow.line(line, STRONG);
    for (const line of pen.lines(text, flow.width, FIXED)) flow.line(line, FIXED);
    flow.space(10);
  }
}
