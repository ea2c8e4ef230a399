/** Shorter words are not compared: one letter more or less makes another valid word. */
const LETTERS_MIN = 5;
const LETTERS_FOR_TWO = 8;

/**
 * The known word that `word` probably misspells, or null. Allows one wrong letter in words of 5 to 7 letters,
 * two from 8 letters on (api 57). Two swapped neighbours count as one wrong letter.
 */
export function nearMiss(word: string, known: Iterable<string>): string | null {
  if (word.length < LETTERS_MIN) return null;
  let nearest: string | null = null;
  let limit = word.length < LETTERS_FOR_TWO ? 1 : 2;
  for (const candidate of known) {
    if (Math.abs(candidate.length - word.length) > limit) continue;
    const distance = distanceOf(word, candidate);
    if (distance === 0) return null;
    if (distance > limit) continue;
    nearest = candidate;
    limit = distance - 1;
  }
  return nearest;
}

/**
 * Number of insertions, deletions, replacements and swaps of neighbours that turn one word into the other.
 */
function distanceOf(a: string, b: string): number {
  let before: number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const replaced = row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      let least = Math.min(replaced, row[j]! + 1, next[j - 1]! + 1);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        least = Math.min(least, before[j - 2]! + 1);
      next.push(least);
    }
    before = row;
    row = next;
  }
  return row[b.length]!;
}
