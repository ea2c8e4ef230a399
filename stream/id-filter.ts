import type { Slot } from '../schemas/events/slot.ts';

/**
 * A set without deletion that may report false positives: "no" is certain, "maybe" is wrong for about one
 * slot in 200. 12 bits a slot, in blocks of 512 bits so that a query costs one cache line. Grows by layers,
 * each twice the last; every layer is queried.
 */
export class IdFilter {
  readonly #layers: Layer[] = [];
  #size = 0;

  constructor(expectedSlots = SLOTS_MIN) {
    this.#layers.push(new Layer(Math.max(SLOTS_MIN, expectedSlots)));
  }

  get size(): number {
    return this.#size;
  }

  get bytes(): number {
    return this.#layers.reduce((sum, layer) => sum + layer.bytes, 0);
  }

  add(slot: Slot): void {
    this.addWords(wordAt(slot, 8), wordAt(slot, 16), wordAt(slot, 24));
  }

  /** The last three of a slot's four 32-bit words; the first one chose its partition. */
  addWords(second: number, third: number, fourth: number): void {
    let layer = this.#layers[this.#layers.length - 1]!;
    if (layer.isFull) {
      layer = new Layer(layer.capacity * 2);
      this.#layers.push(layer);
    }
    layer.add(second, third, fourth);
    this.#size++;
  }

  mayContain(slot: Slot): boolean {
    const second = wordAt(slot, 8);
    const third = wordAt(slot, 16);
    const fourth = wordAt(slot, 24);
    return this.#layers.some((layer) => layer.mayContain(second, third, fourth));
  }
}

const SLOTS_MIN = 1 << 16;
const BITS_PER_SLOT = 12;
const BLOCK_BITS = 512;
const BLOCK_WORDS = BLOCK_BITS / 32;
const PROBES = 8;

class Layer {
  readonly capacity: number;
  readonly #words: Uint32Array;
  readonly #blocks: number;
  #size = 0;

  constructor(capacity: number) {
    this.capacity = capacity;
    this.#blocks = Math.ceil((capacity * BITS_PER_SLOT) / BLOCK_BITS);
    this.#words = new Uint32Array(this.#blocks * BLOCK_WORDS);
  }

  get isFull(): boolean {
    return this.#size >= this.capacity;
  }

  get bytes(): number {
    return this.#words.byteLength;
  }

  add(block: number, bits: number, step: number): void {
    const base = (block % this.#blocks) * BLOCK_WORDS;
    for (let probe = 0, bit = bits; probe < PROBES; probe++, bit += step | 1) {
      const place = bit & (BLOCK_BITS - 1);
      this.#words[base + (place >>> 5)]! |= 1 << (place & 31);
    }
    this.#size++;
  }

  mayContain(block: number, bits: number, step: number): boolean {
    const base = (block % this.#blocks) * BLOCK_WORDS;
    for (let probe = 0, bit = bits; probe < PROBES; probe++, bit += step | 1) {
      const place = bit & (BLOCK_BITS - 1);
      if ((this.#words[base + (place >>> 5)]! & (1 << (place & 31))) === 0) return false;
    }
    return true;
  }
}

/** Eight hexadecimal digits from `start` as an unsigned number: faster than parsing a substring. */
function wordAt(slot: Slot, start: number): number {
  let word = 0;
  for (let place = start; place < start + 8; place++) {
    const code = slot.charCodeAt(place);
    word = (word << 4) | (code < 58 ? code - 48 : code - 87);
  }
  return word >>> 0;
}
