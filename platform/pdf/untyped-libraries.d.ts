declare module 'subset-font' {
  /** The font with its axes pinned, every glyph kept. */
  export default function subsetFont(
    font: Uint8Array,
    text: null,
    options: {
      readonly targetFormat: 'sfnt';
      readonly keepAllGlyphs: true;
      readonly variationAxes: Readonly<Record<string, number>>;
    },
  ): Promise<Uint8Array>;
}

declare module 'bidi-js' {
  interface Bidi {
    getEmbeddingLevels(text: string, direction?: 'ltr' | 'rtl' | 'auto'): { levels: Uint8Array };
    getMirroredCharactersMap(
      text: string,
      levels: Uint8Array,
      start: number,
      end: number,
    ): ReadonlyMap<number, string>;
  }
  export default function createBidi(): Bidi;
}

declare namespace PDFKit.Mixins {
  interface PDFFont {
    /** A parsed font, which several documents may share. */
    registerFont(name: string, font: import('fontkit').Font): this;
  }
}
