import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { create, type Font } from 'fontkit';

/**
 * The embedded font families in order of preference. Each package holds one family, cut into slices by
 * Unicode range. A character takes the first slice that contains it.
 */
const PACKAGES = [
  'noto-sans', 'noto-sans-hebrew', 'noto-sans-arabic', 'noto-sans-devanagari', 'noto-sans-bengali',
  'noto-sans-tamil', 'noto-sans-telugu', 'noto-sans-thai', 'noto-sans-georgian', 'noto-sans-armenian',
  'noto-sans-sc', 'noto-sans-jp', 'noto-sans-kr',
] as const; // prettier-ignore
const MONOSPACED = 'noto-sans-mono';

/** A font file with the glyphs of some Unicode ranges. */
export interface FontSlice {
  readonly name: string;
  readonly file: string;
  hasGlyph(codePoint: number): boolean;
}

export interface FontFamilies {
  /** The slice with the glyph of the character; null if no embedded font has it. */
  sliceOf(codePoint: number, style: 'proportional' | 'monospaced'): FontSlice | null;
}

const require = createRequire(import.meta.url);

export function readFontFamilies(): FontFamilies {
  const proportional = PACKAGES.flatMap(slicesOf);
  const orders = {
    proportional,
    monospaced: [...slicesOf(MONOSPACED), ...proportional],
  };
  const known = { proportional: new Map<number, FontSlice | null>(), monospaced: new Map() };
  return {
    sliceOf(codePoint, style) {
      const cached = known[style].get(codePoint);
      if (cached !== undefined) return cached;
      const found = orders[style].find((slice) => slice.hasGlyph(codePoint)) ?? null;
      known[style].set(codePoint, found);
      return found;
    },
  };
}

/** Slices of a package; `unicode.json` in it gives the ranges of each. */
function slicesOf(family: string): FontSlice[] {
  const folder = dirname(require.resolve(`@fontsource-variable/${family}/unicode.json`));
  const ranges = JSON.parse(readFileSync(join(folder, 'unicode.json'), 'utf8')) as Record<
    string,
    string
  >;
  return Object.entries(ranges).map(([key, text]) => {
    const name = `${family}-${key.replace(/[[\]]/g, '')}`;
    return fontSlice(name, join(folder, 'files', `${name}-wght-normal.woff2`), rangesOf(text));
  });
}

/** The ranges are an index: they may name characters without a glyph, so the font itself decides. */
function fontSlice(
  name: string,
  file: string,
  ranges: readonly (readonly [first: number, last: number])[],
): FontSlice {
  let font: { hasGlyphForCodePoint(codePoint: number): boolean } | undefined;
  return {
    name,
    file,
    hasGlyph(codePoint) {
      if (!ranges.some(([first, last]) => codePoint >= first && codePoint <= last)) return false;
      font ??= create(readFileSync(file)) as Font;
      return font.hasGlyphForCodePoint(codePoint);
    },
  };
}

/** `U+20,U+30-39` as pairs. */
function rangesOf(text: string): [number, number][] {
  return text.split(',').map((range) => {
    const [first = '', last = first] = range.replace('U+', '').split('-');
    return [Number.parseInt(first, 16), Number.parseInt(last, 16)];
  });
}
