import { crc32, deflateSync } from 'node:zlib';
import { imageDataUri } from '../../schemas/image.ts';
import { jpegWithoutExtras, pngWithoutExtras } from '../../schemas/image-parts.ts';

/** Uploaded images keep only what shows them: nothing hidden in them reaches an invoice. */

const SIGNATURE = Buffer.from('89504e470d0a1a0a', 'hex');
function chunk(name: string, content: Buffer, sum?: number): Buffer {
  const named = Buffer.concat([Buffer.from(name, 'latin1'), content]);
  const [length, end] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(content.length);
  end.writeUInt32BE(sum ?? crc32(named));
  return Buffer.concat([length, named, end]);
}
function header(width = 1, height = 1): Buffer {
  const content = Buffer.from('00000000000000000802000000', 'hex');
  content.writeUInt32BE(width, 0);
  content.writeUInt32BE(height, 4);
  return chunk('IHDR', content);
}
const PIXELS = chunk('IDAT', deflateSync(Buffer.from([0, 255, 0, 0])));
const END = chunk('IEND', Buffer.alloc(0));
const bare = Buffer.concat([SIGNATURE, header(), PIXELS, END]);

const segment = (marker: number, content: Buffer): Buffer => {
  const head = Buffer.from([0xff, marker, 0, 0]);
  head.writeUInt16BE(content.length + 2, 2);
  return Buffer.concat([head, content]);
};
const START = Buffer.from([0xff, 0xd8]);
const FINISH = Buffer.from([0xff, 0xd9]);
const FRAME = segment(0xc0, Buffer.from('0800100020030111000211010311', 'hex'));
const TABLE = segment(0xdb, Buffer.alloc(65));
/** The coded pixels contain a stuffed zero and a restart marker; neither ends them. */
const SCAN = Buffer.concat([
  segment(0xda, Buffer.from('03010002110311003f00', 'hex')),
  Buffer.from('12ff0034ffd056', 'hex'),
]);
const ADOBE = segment(0xee, Buffer.from('41646f626500640000000001', 'hex'));
const CAMERA = segment(0xe1, Buffer.from('Exif\0\0GPS of the photographer', 'latin1'));
const REMARK = segment(0xfe, Buffer.from('<script>', 'latin1'));
const photo = Buffer.concat([START, TABLE, FRAME, SCAN, FINISH]);

describe('PNG', () => {
  test('keeps pixels and palette; leaves out texts, profiles and what follows the end', () => {
    const crowded = Buffer.concat([
      SIGNATURE,
      header(),
      chunk('tEXt', Buffer.from('Author\0someone')),
      chunk('iCCP', Buffer.alloc(40)),
      chunk('PLTE', Buffer.from([1, 2, 3])),
      PIXELS,
      chunk('prVt', Buffer.from('private')),
      END,
      Buffer.from('<script>alert(1)</script>'),
    ]);
    const kept = Buffer.concat([
      SIGNATURE,
      header(),
      chunk('PLTE', Buffer.from([1, 2, 3])),
      PIXELS,
      END,
    ]);
    const found = pngWithoutExtras(crowded)!;
    expect([Buffer.from(found.bytes).equals(kept), found.width, found.height]).toEqual([
      true,
      1,
      1,
    ]);
  });

  test.each<[string, Buffer]>([
    ['a wrong checksum', Buffer.concat([SIGNATURE, header(), chunk('IDAT', PIXELS, 1), END])],
    ['no pixels', Buffer.concat([SIGNATURE, header(), END])],
    ['no end', bare.subarray(0, bare.length - 12)],
    ['a header in the middle', Buffer.concat([SIGNATURE, PIXELS, header(), END])],
    ['no width', Buffer.concat([SIGNATURE, header(0), PIXELS, END])],
    [
      'a length beyond the file',
      Buffer.concat([SIGNATURE, Buffer.from('ffffffff49484452', 'hex')]),
    ],
  ])('refuses %s', (_name, bytes) => expect(pngWithoutExtras(bytes)).toBeNull());
});

describe('JPEG', () => {
  test('keeps tables, frame, pixels and the colour coding; leaves out camera data and comments', () => {
    const crowded = Buffer.concat([
      START, CAMERA, ADOBE, TABLE, REMARK, FRAME, SCAN, FINISH, Buffer.from('trailer'),
    ]); // prettier-ignore
    const found = jpegWithoutExtras(crowded)!;
    const kept = Buffer.concat([START, ADOBE, TABLE, FRAME, SCAN, FINISH]);
    expect(Buffer.from(found.bytes).equals(kept)).toBe(true);
    expect([found.width, found.height]).toEqual([32, 16]);
  });

  test.each<[string, Buffer]>([
    ['no frame', Buffer.concat([START, TABLE, SCAN, FINISH])],
    ['no pixels', Buffer.concat([START, FRAME, FINISH])],
    ['no end', Buffer.concat([START, FRAME, SCAN])],
    ['a segment that no reader knows', Buffer.concat([START, segment(0xc8, Buffer.alloc(9)), FRAME, SCAN, FINISH])],
  ])('refuses %s', (_name, bytes) => expect(jpegWithoutExtras(bytes)).toBeNull()); // prettier-ignore

  test('every byte cut off or turned gives an image again, or none, and never fails', () => {
    for (let at = 0; at < photo.length; at += 1) {
      jpegWithoutExtras(photo.subarray(0, at));
      for (const byte of [0, 0xff]) {
        const turned = Buffer.from(photo);
        turned[at] = byte;
        jpegWithoutExtras(turned);
      }
    }
  });
});

test('the value of a setting is the bare image, and parsing it again changes nothing', () => {
  const crowded = Buffer.concat([
    bare.subarray(0, bare.length - 12),
    chunk('tIME', Buffer.alloc(7)),
    END,
    Buffer.from('hidden'),
  ]);
  const uri = (bytes: Buffer) => `data:image/png;base64,${bytes.toString('base64')}`;
  expect(imageDataUri.parse(uri(crowded))).toBe(uri(bare));
  expect(imageDataUri.parse(uri(bare))).toBe(uri(bare));
  expect(imageDataUri.safeParse(`${uri(bare)}*`).success).toBe(false);
});
