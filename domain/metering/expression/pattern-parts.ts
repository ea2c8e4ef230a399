/**
 * Number of parts of a pattern, each counted as often as it may repeat: the size of the compiled pattern,
 * and so the cost of compiling and matching. `(a{10}b){3}` has 33. Never too low: syntax that is not
 * understood counts as its characters. Linear in the pattern.
 */
export function patternParts(pattern: string): number {
  /**
   * For each open group: its parts so far, and the parts of its last element, which a repetition multiplies.
   */
  const groups = [{ parts: 0, last: 0 }];
  const element = (parts: number): void => {
    const group = groups.at(-1)!;
    group.parts = Math.min(group.parts + parts, MANY);
    group.last = parts;
  };
  for (let index = 0; index < pattern.length; index++) {
    const character = pattern[index]!;
    const transparent = TRANSPARENT.exec(pattern.slice(index, index + MAX_FLAGS_LENGTH))?.[0];
    const quote = character === '\\' ? QUOTED.exec(pattern.slice(index))?.[0] : undefined;
    if (transparent !== undefined) {
      index += transparent.length - 1;
    } else if (quote !== undefined) {
      element(quote.length);
      index += quote.length - 1;
    } else if (character === '\\') {
      index += 1;
      element(1);
    } else if (character === '[') {
      element(1);
      index = endOfClass(pattern, index);
    } else if (character === '(') {
      groups.push({ parts: 1, last: 1 });
    } else if (character === ')' && groups.length > 1) {
      element(groups.pop()!.parts);
    } else if (character === '{') {
      const count = COUNT.exec(pattern.slice(index, index + MAX_COUNT_LENGTH));
      if (count === null) {
        element(1);
        continue;
      }
      const times = Math.max(Number(count[1]), Number(count[2] || 0), 1);
      const { last } = groups.at(-1)!;
      element(Math.min(last * (times - 1), MANY));
      groups.at(-1)!.last = Math.min(last * times, MANY);
      index += count[0].length - 1;
    } else {
      element(1);
    }
  }
  return groups.reduce((sum, { parts }) => Math.min(sum + parts, MANY), 0);
}

/** The end of the character class that begins at `start`: brackets inside it do not open or close groups. */
function endOfClass(pattern: string, start: number): number {
  let index = start + 1;
  if (pattern[index] === '^') index += 1;
  if (pattern[index] === ']') index += 1;
  for (; index < pattern.length && pattern[index] !== ']'; index++) {
    if (pattern[index] === '\\') index += 1;
    else if (pattern.startsWith('[:', index)) {
      const end = pattern.indexOf(':]', index + 2);
      if (end > 0) index = end + 1;
    }
  }
  return index;
}

/**
 * Flags and an empty quotation match nothing. A repetition after them repeats the element before them:
 * `a{20}(?i){20}` compiles to 400 characters.
 */
const TRANSPARENT = /^(?:\(\?[a-zA-Z-]{0,8}\)|\\Q\\E)/;
const MAX_FLAGS_LENGTH = 12;
const QUOTED = /^\\Q.*?(?:\\E|$)/s;
const COUNT = /^\{(\d{1,6})(?:,(\d{0,6}))?\}/;
const MAX_COUNT_LENGTH = 16;
const MANY = 1_000_000_000;
