import { text } from './primitives.ts';

const BYTES_MAX = 256 * 1024;
/** Larger images would take much memory to decode. */
const PIXELS_MAX = 4_000_000;
const EXPECTED =
  'expected a PNG or JPEG image as a data URI of at most 256 KB and 4 million pixels';

/** A PNG or JPEG image, `data:image/png;base64,…`, of at most 256 KB. */
export const imageDataUri = text(Math.ceil((BYTES_MAX * 4) / 3) + 64).refine(
  (value) => value === '' || isImage(value),
  EXPECTED,
);

function isImage(uri: string): boolean {
  const comma = uri.indexOf(',');
  const type = comma < 0 ? '' : uri.slice(0, comma);
  const encoded = uri.slice(comma + 1);
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(encoded)) return false;
  const bytes = Uint8Array.from(atob(encoded), (character) => character.charCodeAt(0));
  const view = new DataView(bytes.buffer);
  if (type === 'data:image/png;base64') return isPng(view);
  return type === 'data:image/jpeg;base64' && isJpeg(view);
}

/** Signature, then the header chunk with width and height. */
function isPng(view: DataView): boolean {
  if (view.byteLength < 45 || view.getUint32(0) !== 0x89504e47) return false;
  return isPrintable(view.getUint32(16), view.getUint32(20));
}

/** Walks the segments up to the frame header, which has height and width. */
function isJpeg(view: DataView): boolean {
  if (view.byteLength < 4 || view.getUint16(0) !== 0xffd8) return false;
  for (let at = 2; at + 9 < view.byteLength; at += 2 + view.getUint16(at + 2)) {
    const marker = view.getUint16(at);
    if (marker < 0xff01) return false;
    const isFrame = marker >= 0xffc0 && marker <= 0xffc3;
    if (isFrame) return isPrintable(view.getUint16(at + 7), view.getUint16(at + 5));
  }
  return false;
}

const isPrintable = (width: number, height: number): boolean =>
  width > 0 && height > 0 && width * height <= PIXELS_MAX;
