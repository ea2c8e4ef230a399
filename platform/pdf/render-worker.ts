import { drawDocument } from './draw-document.ts';
import { readFontFamilies } from './font-families.ts';
import { TooManyPages } from './page-flow.ts';
import type { PrintedDocument } from './printed-document.ts';
import { StaticFonts } from './static-fonts.ts';

const families = readFontFamilies();
const fonts = new StaticFonts();

/**
 * Runs in a thread of its own: a long document must not hold the event loop of the API. Null means too many
 * pages: a thread cannot throw an error of its own class.
 */
export default async function render(document: PrintedDocument): Promise<Uint8Array | null> {
  try {
    return await drawDocument(document, families, fonts);
  } catch (error) {
    if (error instanceof TooManyPages) return null;
    throw error;
  }
}
