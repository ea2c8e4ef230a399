import type PDFDocument from 'pdfkit';
import type { FontFamilies } from './font-families.ts';
import type { StaticFonts, Weight } from './static-fonts.ts';
import { textRuns, type FontStyle, type TextRun } from './text-runs.ts';

export interface TextLook {
  readonly size: number;
  readonly weight?: Weight;
  readonly style?: FontStyle;
  readonly colour?: string;
}

/** Latin text keeps the library's cache of words; other scripts are shaped whole. */
const SHAPED: PDFKit.Mixins.TextOptions = {
  lineBreak: false,
  baseline: 'alphabetic',
  features: [],
};
const CACHED: PDFKit.Mixins.TextOptions = { lineBreak: false, baseline: 'alphabetic' };

/** Baseline below the top of a line, and the height of a line, as parts of the font size. */
const ASCENT = 1.07;
export const LINE_HEIGHT = 1.4;

const words = new Intl.Segmenter('und', { granularity: 'word' });
const graphemes = new Intl.Segmenter('und', { granularity: 'grapheme' });

/** Measures and draws text of any script. Call `prepare` with a text before it is measured or drawn. */
export class TextPen {
  readonly #pdf: InstanceType<typeof PDFDocument>;
  readonly #families: FontFamilies;
  readonly #fonts: StaticFonts;
  readonly #registered = new Set<string>();
  readonly #widths = new Map<string, number>();

  constructor(pdf: InstanceType<typeof PDFDocument>, families: FontFamilies, fonts: StaticFonts) {
    this.#pdf = pdf;
    this.#families = families;
    this.#fonts = fonts;
  }

  /** Registers the fonts of the texts. */
  async prepare(
    texts: Iterable<string>,
    { weight = 400, style = 'proportional' }: TextLook,
  ): Promise<void> {
    for (const text of texts)
      for (const { slice } of this.#runs(text, style)) {
        const name = fontName(slice.name, weight);
        if (this.#registered.has(name)) continue;
        this.#pdf.registerFont(name, await this.#fonts.fontOf(slice, weight));
        this.#registered.add(name);
      }
  }

  widthOf(text: string, look: TextLook): number {
    const { size, weight = 400, style = 'proportional' } = look;
    const key = `${size} ${weight} ${style} ${text}`;
    const known = this.#widths.get(key);
    if (known !== undefined) return known;
    let width = 0;
    for (const run of this.#runs(text, style)) {
      this.#choose(run, look);
      width += this.#pdf.widthOfString(run.text, optionsOf(run));
    }
    this.#widths.set(key, width);
    return width;
  }

  /** Draws one line; `top` is the upper edge of the line. */
  draw(
    text: string,
    at: {
      readonly left: number;
      readonly top: number;
      readonly width: number;
      readonly align?: 'left' | 'right';
    },
    look: TextLook,
  ): void {
    const { size, style = 'proportional', colour = '#1f2430' } = look;
    let x = at.align === 'right' ? at.left + at.width - this.widthOf(text, look) : at.left;
    this.#pdf.fillColor(colour);
    for (const run of this.#runs(text, style)) {
      this.#choose(run, look);
      this.#pdf.text(run.text, x, at.top + size * ASCENT, optionsOf(run));
      // The library moves its own position to the end of the text.
      x = this.#pdf.x;
    }
  }

  /** The text in lines of at most `width` points, broken between words, or inside a word that is too long. */
  lines(text: string, width: number, look: TextLook): string[] {
    return text.split('\n').flatMap((paragraph) => this.#wrapped(paragraph, width, look));
  }

  #wrapped(paragraph: string, width: number, look: TextLook): string[] {
    if (this.widthOf(paragraph, look) <= width) return [paragraph];
    const lines: string[] = [];
    let line = '';
    for (const part of this.#parts(paragraph, width, look)) {
      if (line !== '' && this.widthOf(line + part.trimEnd(), look) > width) {
        lines.push(line.trimEnd());
        line = part.trimStart();
      } else line += part;
    }
    return [...lines, line.trimEnd()];
  }

  /** Words; a word wider than the line in graphemes. */
  #parts(paragraph: string, width: number, look: TextLook): string[] {
    return [...words.segment(paragraph)].flatMap(({ segment }) =>
      this.widthOf(segment, look) <= width
        ? [segment]
        : [...graphemes.segment(segment)].map((grapheme) => grapheme.segment),
    );
  }

  #runs(text: string, style: FontStyle): TextRun[] {
    return textRuns(text, style, this.#families);
  }

  #choose({ slice }: TextRun, { size, weight = 400 }: TextLook): void {
    this.#pdf.font(fontName(slice.name, weight)).fontSize(size);
  }
}

const fontName = (slice: string, weight: Weight): string => `${slice}-${weight}`;

const optionsOf = ({ slice }: TextRun): PDFKit.Mixins.TextOptions =>
  slice.name.includes('latin') ? CACHED : SHAPED;
