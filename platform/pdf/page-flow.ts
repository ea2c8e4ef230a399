import type PDFDocument from 'pdfkit';
import { LINE_HEIGHT, type TextLook, type TextPen } from './text-pen.ts';

const PAGE = { width: 595.28, height: 841.89 };
const MARGIN = { side: 48, top: 48, bottom: 60 };
const FOOTER: TextLook = { size: 7.5, colour: '#667085' };

/** More than 10,000 rows with their explanations need. */
export const PAGES_MAX = 5_000;

/** Thrown when a document needs more pages than are allowed. */
export class TooManyPages extends Error {
  override readonly name = 'TooManyPages';
}

/** Fills pages from top to bottom, in points. A line that does not fit begins a new page. */
export class PageFlow {
  readonly left = MARGIN.side;
  readonly width = PAGE.width - 2 * MARGIN.side;
  /** Called after each page break, for example to repeat the headings of a table. */
  onNewPage: (() => void) | null = null;
  #top = 0;
  #pages = 0;
  readonly #pdf: InstanceType<typeof PDFDocument>;
  readonly #pen: TextPen;
  readonly #footer: string;

  constructor(pdf: InstanceType<typeof PDFDocument>, pen: TextPen, footer: string) {
    this.#pdf = pdf;
    this.#pen = pen;
    this.#footer = footer;
    this.newPage();
  }

  get top(): number {
    return this.#top;
  }

  newPage(): void {
    this.#pages += 1;
    if (this.#pages > PAGES_MAX)
      throw new TooManyPages(`the document has more than ${PAGES_MAX} pages`);
    this.#pdf.addPage();
    const place = { left: this.left, top: PAGE.height - 40, width: this.width };
    this.#pen.draw(this.#footer, place, FOOTER);
    this.#pen.draw(String(this.#pages), { ...place, align: 'right' }, FOOTER);
    this.#top = MARGIN.top;
    const { onNewPage } = this;
    if (onNewPage === null) return;
    // The headings of a page must not cause a page break of their own.
    this.onNewPage = null;
    onNewPage();
    this.onNewPage = onNewPage;
  }

  /** Begins a new page if less than `height` is left. */
  keep(height: number): void {
    if (this.#top + height > PAGE.height - MARGIN.bottom) this.newPage();
  }

  /** Lines that belong together: each is drawn at its own top; a page break may separate them. */
  band(count: number, look: TextLook, draw: (line: number, top: number) => void): void {
    const height = look.size * LINE_HEIGHT;
    // A row stays on one page if it fits on a page at all.
    if (count * height < PAGE.height / 2) this.keep(count * height);
    for (let line = 0; line < count; line++) {
      this.keep(height);
      draw(line, this.#top);
      this.#top += height;
    }
  }

  line(text: string, look: TextLook): void {
    this.band(1, look, (_, top) =>
      this.#pen.draw(text, { left: this.left, top, width: this.width }, look),
    );
  }

  rule(pdf: InstanceType<typeof PDFDocument>, colour: string, from = this.left): void {
    pdf
      .moveTo(from, this.#top)
      .lineTo(this.left + this.width, this.#top)
      .lineWidth(0.5)
      .strokeColor(colour)
      .stroke();
    this.#top += 2;
  }

  space(points: number): void {
    this.#top += points;
  }

  /** Moves down to `top` if the flow is above it. */
  atLeast(top: number): void {
    this.#top = Math.max(this.#top, top);
  }
}
