import createBidi from 'bidi-js';
import type { FontFamilies, FontSlice } from './font-families.ts';

export type FontStyle = 'proportional' | 'monospaced';

/** Text of one font and one direction, ready to be drawn. */
export interface TextRun {
  readonly text: string;
  readonly slice: FontSlice;
}

const bidi = createBidi();
const PLAIN = /^[\x20-\x7e]*$/;
const CONTROL = /[\p{Cc}\p{Zl}\p{Zp}]+/gu;
const RIGHT_TO_LEFT = /[\p{Script=Arabic}\p{Script=Hebrew}]/u;
const REPLACEMENT = '?'.codePointAt(0)!;

/**
 * The runs of one line of text, from left to right as drawn (Unicode bidirectional algorithm, UAX #9, the
 * base direction from the first strong character). A character without a glyph in any font becomes `?`.
 */
export function textRuns(line: string, style: FontStyle, families: FontFamilies): TextRun[] {
  const text = line.replace(CONTROL, ' ');
  if (text === '') return [];
  if (PLAIN.test(text)) return [{ text, slice: families.sliceOf(0x61, style)! }];
  const { levels } = bidi.getEmbeddingLevels(text);
  const runs = logicalRuns(text, levels, style, families);
  return visualOrder(runs).map(({ level, text: logical, slice, start }) => ({
    slice,
    text: level % 2 === 1 ? drawnRightToLeft(logical, start, text, levels) : logical,
  }));
}

interface LogicalRun {
  readonly level: number;
  readonly start: number;
  readonly slice: FontSlice;
  text: string;
}

function logicalRuns(
  text: string,
  levels: Uint8Array,
  style: FontStyle,
  families: FontFamilies,
): LogicalRun[] {
  const runs: LogicalRun[] = [];
  for (let index = 0; index < text.length;) {
    const codePoint = text.codePointAt(index)!;
    const length = codePoint > 0xffff ? 2 : 1;
    const level = levels[index]!;
    const current = runs.at(-1);
    // Marks, joiners and punctuation stay with the letters before them if that font has them.
    const stays = current !== undefined && current.slice.hasGlyph(codePoint);
    const found = stays ? current.slice : families.sliceOf(codePoint, style);
    const slice = found ?? families.sliceOf(REPLACEMENT, style)!;
    const character = found === null ? '?' : String.fromCodePoint(codePoint);
    if (current !== undefined && current.level === level && current.slice === slice)
      current.text += character;
    else runs.push({ level, start: index, slice, text: character });
    index += length;
  }
  return runs;
}

/** Rule L2: from the highest level down to the lowest odd one, sequences of that level or higher are reversed. */
function visualOrder(runs: readonly LogicalRun[]): LogicalRun[] {
  const ordered = [...runs];
  const highest = Math.max(...runs.map(({ level }) => level));
  for (let level = highest; level > 0; level--) {
    for (let start = 0; start < ordered.length; start++) {
      if (ordered[start]!.level < level) continue;
      let end = start;
      while (end < ordered.length && ordered[end]!.level >= level) end += 1;
      ordered.splice(start, end - start, ...ordered.slice(start, end).toReversed());
      start = end;
    }
  }
  return ordered;
}

/**
 * Brackets are mirrored. The shaper of the font reverses runs with letters of a right-to-left script; runs of
 * punctuation only are reversed here.
 */
function drawnRightToLeft(run: string, start: number, text: string, levels: Uint8Array): string {
  const mirrored = bidi.getMirroredCharactersMap(text, levels, start, start + run.length - 1);
  const characters = [...run].map((character, index) => mirrored.get(start + index) ?? character);
  return (RIGHT_TO_LEFT.test(run) ? characters : characters.toReversed()).join('');
}
