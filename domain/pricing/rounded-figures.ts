import type { Reader } from './figures.ts';

/** A figure that is rounded for the reader, with its mark, and the exact one as it is stored. */
export interface RoundedFigure {
  readonly shown: string;
  readonly exact: string;
}

/** Characters for private use (Unicode): the nth stands for `≈` before the nth rounded figure. */
const FIRST = 0xe000;
const COUNT = 0x1900;
const FIGURE = /([\ue000-\uf8ff]-?\d[\d,]*(?:\.\d+)?)/;

/**
 * Finds the exact values of the rounded figures in a text, for readers that show them where they stand. `mark` goes to
 * the explanation; `parts` divides its lines. The mark is one character, so columns stay aligned. Figures
 * beyond the first 6,400 have no exact value.
 */
export class RoundedFigures {
  readonly #exact: string[] = [];

  readonly mark: NonNullable<Reader['mark']> = (exact) => {
    if (this.#exact.length === COUNT) return '≈';
    this.#exact.push(exact);
    return String.fromCharCode(FIRST + this.#exact.length - 1);
  };

  /** The text in order: plain parts, and rounded figures with their exact values. */
  parts(line: string): readonly (string | RoundedFigure)[] {
    return line
      .split(FIGURE)
      .filter((part) => part !== '')
      .map((part) => {
        const exact = FIGURE.test(part) ? this.#exact[part.charCodeAt(0) - FIRST] : undefined;
        return exact === undefined ? part : { shown: `≈${part.slice(1)}`, exact };
      });
  }
}
