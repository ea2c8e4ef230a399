import { jpegWithoutExtras, pngWithoutExtras } from './image-parts.ts';
import { text } from './primitives.ts';

const BYTES_MAX = 256 * 1024;
/** Larger images would take much memory to decode. */
const PIXELS_MAX = 4_000_000;
const EXPECTED =
  'expected a PNG or JPEG image as a data URI of at most 256 KB and 4 million pixels';

/**
 * A PNG or JPEG image, `data:image/png;base64,…`, of at most 256 KB. Its value is the image without the parts
 * that show nothing: comments, camera and place data, colour profiles, and data after the image.
 */
export const imageDataUri = text(Math.ceil((BYTES_MAX * 4) / 3) + 64)
  .refine((value) => value === '' || cleanImage(value) !== null, EXPECTED)
  .overwrite((value) => cleanImage(value) ?? value);

const PREFIXES = {
  'data:image/png;base64': pngWithoutExtras,
  'data:image/jpeg;base64': jpegWithoutExtras,
} as const;

/** The same image in its smallest form; null if it is not an image, or too large. */
function cleanImage(uri: string): string | null {
  const comma = uri.indexOf(',');
  const type = comma < 0 ? '' : uri.slice(0, comma);
  const encoded = uri.slice(comma + 1);
  if (!Object.hasOwn(PREFIXES, type) || !/^[A-Za-z0-9+/]*={0,2}$/.test(encoded)) return null;
  const image = PREFIXES[type as keyof typeof PREFIXES](bytesOf(encoded));
  if (image === null || image.width * image.height > PIXELS_MAX) return null;
  return `${type},${textOf(image.bytes)}`;
}

/** Empty for text that is not base64. */
function bytesOf(encoded: string): Uint8Array {
  try {
    return Uint8Array.from(atob(encoded), (character) => character.charCodeAt(0));
  } catch {
    return new Uint8Array();
  }
}

function textOf(bytes: Uint8Array): string {
  let characters = '';
  for (const byte of bytes) characters += String.fromCharCode(byte);
  return btoa(characters);
}
