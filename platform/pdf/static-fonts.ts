import { readFileSync } from 'node:fs';
import subsetFont from 'subset-font';
import type { FontSlice } from './font-families.ts';

export type Weight = 400 | 700;

/**
 * Font files of a fixed weight, made from the variable fonts and kept in memory: the PDF library cannot embed
 * variable fonts. One file takes about 0.2 s to make and 30 to 130 KB; a process that prints every script keeps
 * some 40 MB.
 */
export class StaticFonts {
  readonly #made = new Map<string, Promise<Uint8Array>>();

  fileOf(slice: FontSlice, weight: Weight): Promise<Uint8Array> {
    const key = `${slice.name}-${weight}`;
    const known = this.#made.get(key);
    if (known !== undefined) return known;
    const made = staticFont(slice, weight);
    this.#made.set(key, made);
    return made;
  }
}

async function staticFont({ file }: FontSlice, weight: Weight): Promise<Uint8Array> {
  return await subsetFont(readFileSync(file), null, {
    targetFormat: 'sfnt',
    keepAllGlyphs: true,
    variationAxes: { wght: weight },
  });
}
