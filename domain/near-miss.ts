/** Of shorter words, one letter more or less makes another word. */
const LETTERS_MIN = 5;
const LETTERS_FOR_TWO = 8;

/**
 * The known word that an unknown one is a misspelling of, or null: at most one letter is wrong in words of
 * 5 to 7 letters, two from 8 on (api 57). Two letters that changed places count as one.
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
    if (limit === 0) break;
  }
  return nearest;
}

/** How many letters have to be put in, taken out, replaced or exchanged with their neighbour. */
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
