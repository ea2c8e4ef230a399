import { readFileSync } from 'node:fs';
import { create, type Font, type GlyphRun } from 'fontkit';
import subsetFont from 'subset-font';
import type { FontSlice } from './font-families.ts';

export type Weight = 400 | 700;

/** Shaped words that one font keeps; a word takes some 2 kB. */
const SHAPED_MAX = 4_000;

/**
 * Fonts of a fixed weight, made from the variable fonts and kept in memory: the PDF library cannot embed
 * variable fonts. One font takes about 0.2 s to make and 30 to 130 KB; a process that prints every script
 * keeps some 40 MB. Documents share the parsed fonts and their shaped words: parsing and shaping took half of
 * the time of a document of 100 rows.
 */
export class StaticFonts {
  readonly #made = new Map<string, Promise<Font>>();

  fontOf(slice: FontSlice, weight: Weight): Promise<Font> {
    const key = `${slice.name}-${weight}`;
    const known = this.#made.get(key);
    if (known !== undefined) return known;
    const made = staticFont(slice, weight);
    this.#made.set(key, made);
    return made;
  }
}

async function staticFont({ file }: FontSlice, weight: Weight): Promise<Font> {
  const bytes = await subsetFont(readFileSync(file), null, {
    targetFormat: 'sfnt',
    keepAllGlyphs: true,
    variationAxes: { wght: weight },
  });
  return keepingShapes(
    create(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)) as Font,
  );
}

/**
 * The font with a `layout` that remembers its answers. The PDF library scales the positions of an answer to 1,000
 * units in place, so answers are shared only if the font has 1,000 units.
 */
function keepingShapes(font: Font): Font {
  if (font.unitsPerEm !== 1_000) return font;
  const shape = font.layout.bind(font);
  const shaped = new Map<string, GlyphRun>();
  font.layout = (text, features, ...others) => {
    if (others.length > 0 || (features !== undefined && Object.keys(features).length > 0))
      return shape(text, features, ...others);
    const known = shaped.get(text);
    if (known !== undefined) return known;
    if (shaped.size >= SHAPED_MAX) shaped.clear();
    const run = shape(text, features);
    shaped.set(text, run);
    return run;
  };
  return font;
}
