/** Reads ClickHouse's RowBinary front to back. The caller knows the columns and their types. */
export class RowBinaryReader {
  readonly #bytes: Buffer;
  #at = 0;
  #lastLow = 0;
  #lastHigh = 0;
  #last = 0n;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  get done(): boolean {
    return this.#at >= this.#bytes.length;
  }

  uint8(): number {
    return this.#bytes[this.#at++]!;
  }

  uint16(): number {
    this.#at += 2;
    return this.#bytes.readUInt16LE(this.#at - 2);
  }

  uint32(): number {
    this.#at += 4;
    return this.#bytes.readUInt32LE(this.#at - 4);
  }

  /** Returns the same bigint for a run of equal numbers, because allocating them is the main cost. */
  uint64(): bigint {
    this.#at += 8;
    const low = this.#bytes.readUInt32LE(this.#at - 8);
    const high = this.#bytes.readUInt32LE(this.#at - 4);
    if (low !== this.#lastLow || high !== this.#lastHigh) {
      this.#lastLow = low;
      this.#lastHigh = high;
      this.#last = this.#bytes.readBigUInt64LE(this.#at - 8);
    }
    return this.#last;
  }

  /** An unsigned 64-bit number known to be below 2^53: a count, a time. */
  count(): number {
    this.#at += 8;
    const low = this.#bytes.readUInt32LE(this.#at - 8);
    return this.#bytes.readUInt32LE(this.#at - 4) * 4_294_967_296 + low;
  }

  /** The integer of a 128-bit Decimal, or an Int128. */
  int128(): bigint {
    return this.#signed(2);
  }

  /** The integer of a 256-bit Decimal. */
  int256(): bigint {
    return this.#signed(4);
  }

  string(): string {
    const length = this.length();
    this.#at += length;
    return length === 0 ? '' : this.#bytes.toString('utf8', this.#at - length, this.#at);
  }

  /** The length of an array; its elements follow. */
  length(): number {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = this.#bytes[this.#at++]!;
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return value;
    }
  }

  strings(): readonly string[] {
    const length = this.length();
    if (length === 0) return NONE;
    const texts: string[] = [];
    for (let index = 0; index < length; index += 1) texts.push(this.string());
    return texts;
  }

  /** Hex texts of an array of FixedString(16). */
  hashes(): readonly string[] {
    const hashes: string[] = [];
    for (let left = this.length(); left > 0; left -= 1) {
      this.#at += 16;
      hashes.push(this.#bytes.toString('hex', this.#at - 16, this.#at));
    }
    return hashes;
  }

  /** Little-endian, two's complement. Most numbers are small; for those only the lowest word is read. */
  #signed(words: number): bigint {
    const bytes = this.#bytes;
    const at = this.#at;
    this.#at += words * 8;
    const low = bytes.readBigInt64LE(at);
    const fill = low < 0n ? 0xffff_ffff : 0;
    let isSmall = true;
    for (let offset = at + 8; offset < this.#at; offset += 4) {
      if (bytes.readUInt32LE(offset) !== fill) {
        isSmall = false;
        break;
      }
    }
    if (isSmall) return low;
    let value = bytes.readBigInt64LE(at + (words - 1) * 8);
    for (let word = words - 2; word >= 0; word -= 1) {
      value = (value << 64n) | bytes.readBigUInt64LE(at + word * 8);
    }
    return value;
  }
}

const NONE: readonly string[] = Object.freeze([]);
