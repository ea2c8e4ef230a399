/** An image with the parts that are needed to show it, and its size in pixels. */
export interface BareImage {
  readonly bytes: Uint8Array;
  readonly width: number;
  readonly height: number;
}

const PNG_SIGNATURE = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];
/** Header, palette, transparency, pixels, end. Texts, times, profiles and private chunks are left out. */
const PNG_CHUNKS: ReadonlySet<string> = new Set(['IHDR', 'PLTE', 'tRNS', 'IDAT', 'IEND']);

/** Null if the chunks are not those of a PNG image: each has its length, name, content and checksum. */
export function pngWithoutExtras(bytes: Uint8Array): BareImage | null {
  const view = viewOf(bytes);
  if (!PNG_SIGNATURE.every((byte, at) => bytes[at] === byte)) return null;
  const parts = [bytes.subarray(0, 8)];
  let size: { width: number; height: number } | null = null;
  let hasPixels = false;
  for (let at = 8; at + 12 <= bytes.length;) {
    const end = at + 12 + view.getUint32(at);
    if (end > bytes.length) return null;
    const name = String.fromCharCode(...bytes.subarray(at + 4, at + 8));
    if (checksum(bytes.subarray(at + 4, end - 4)) !== view.getUint32(end - 4)) return null;
    if ((at === 8) !== (name === 'IHDR')) return null;
    if (name === 'IHDR') {
      if (end !== 33) return null;
      size = { width: view.getUint32(16), height: view.getUint32(20) };
    }
    if (name === 'IDAT') hasPixels = true;
    if (PNG_CHUNKS.has(name)) parts.push(bytes.subarray(at, end));
    if (name === 'IEND') return hasPixels ? bareImage(parts, size) : null;
    at = end;
  }
  return null;
}

const JPEG_START = 0xd8;
const JPEG_END = 0xd9;
const JPEG_SCAN = 0xda;
/** Frames that PDF readers decode: baseline, extended and progressive. */
const JPEG_FRAMES: ReadonlySet<number> = new Set([0xc0, 0xc1, 0xc2]);
/** Huffman and quantization tables, restart interval, and Adobe's note on how colours are coded. */
const JPEG_TABLES: ReadonlySet<number> = new Set([0xc4, 0xdb, 0xdd]);
const ADOBE = 0xee;

/**
 * Null if the segments are not those of a JPEG image. Metadata of the camera is removed, including the
 * orientation, so the pixels are shown in their stored order.
 */
export function jpegWithoutExtras(bytes: Uint8Array): BareImage | null {
  const view = viewOf(bytes);
  if (bytes[0] !== 0xff || bytes[1] !== JPEG_START) return null;
  const parts = [bytes.subarray(0, 2)];
  let size: { width: number; height: number } | null = null;
  let hasPixels = false;
  for (let at = 2; at + 1 < bytes.length;) {
    const marker = bytes[at + 1]!;
    if (bytes[at] !== 0xff) return null;
    if (marker === 0xff) {
      at += 1; // A fill byte.
      continue;
    }
    if (marker === JPEG_END) {
      parts.push(bytes.subarray(at, at + 2));
      return hasPixels ? bareImage(parts, size) : null;
    }
    if (at + 4 > bytes.length) return null;
    let end = at + 2 + view.getUint16(at + 2);
    if (end > bytes.length || end < at + 4) return null;
    if (JPEG_FRAMES.has(marker)) {
      if (end < at + 9 || size !== null) return null;
      size = { width: view.getUint16(at + 7), height: view.getUint16(at + 5) };
      parts.push(bytes.subarray(at, end));
    } else if (marker === JPEG_SCAN) {
      if (size === null) return null;
      hasPixels = true;
      end = endOfScan(bytes, end);
      parts.push(bytes.subarray(at, end));
    } else if (JPEG_TABLES.has(marker) || (marker === ADOBE && isAdobe(bytes, at, end))) {
      parts.push(bytes.subarray(at, end));
    } else if (!(marker >= 0xe0 && marker <= 0xef) && marker !== 0xfe) {
      return null;
    }
    at = end;
  }
  return null;
}

/** Coded pixels contain 0xff only before a zero or a restart marker. */
function endOfScan(bytes: Uint8Array, from: number): number {
  let at = from;
  while (at + 1 < bytes.length) {
    const next = bytes[at + 1]!;
    if (bytes[at] === 0xff && next !== 0 && !(next >= 0xd0 && next <= 0xd7)) return at;
    at += 1;
  }
  return bytes.length;
}

const isAdobe = (bytes: Uint8Array, at: number, end: number): boolean =>
  end === at + 16 && String.fromCharCode(...bytes.subarray(at + 4, at + 9)) === 'Adobe';

function bareImage(
  parts: readonly Uint8Array[],
  size: { readonly width: number; readonly height: number } | null,
): BareImage | null {
  if (size === null || size.width === 0 || size.height === 0) return null;
  const bytes = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return { bytes, ...size };
}

const viewOf = (bytes: Uint8Array): DataView =>
  new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/** CRC-32 as PNG and gzip use it. */
function checksum(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit += 1) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  }
  return (crc ^ 0xffffffff) >>> 0;
}
