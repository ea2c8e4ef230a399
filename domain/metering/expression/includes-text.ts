import { spend } from './bounds.ts';
import { FAILED, TEXT_PER_STEP, type Scope, type Value } from './value.ts';

/** Up to this length of `part`, the engine's own search does at most this many comparisons per character. */
const SHORT = 16;

/**
 * Whether `text` contains `part`, in time linear in both. The engine's own `includes` is quadratic in the
 * worst case: 500,000 characters in 1,000,000 took four minutes, and events can contain both. (Knuth, Morris,
 * Pratt.)
 */
export function includesText(text: string, part: string, scope: Scope): Value {
  if (part.length <= SHORT) {
    const steps = (text.length * part.length) / TEXT_PER_STEP / 4;
    return spend(scope, steps) ? text.includes(part) : FAILED;
  }
  if (part.length > text.length) return false;
  if (!spend(scope, (text.length + part.length) / 64, part.length * 4)) return FAILED;
  const borders = bordersOf(part);
  let matched = 0;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    while (matched > 0 && part.charCodeAt(matched) !== unit) matched = borders[matched - 1]!;
    if (part.charCodeAt(matched) === unit) matched += 1;
    if (matched === part.length) return true;
  }
  return false;
}

/** For each prefix of `part`: the length of its longest proper prefix that is also its suffix. */
function bordersOf(part: string): Int32Array {
  const borders = new Int32Array(part.length);
  let length = 0;
  for (let index = 1; index < part.length; index++) {
    const unit = part.charCodeAt(index);
    while (length > 0 && part.charCodeAt(length) !== unit) length = borders[length - 1]!;
    if (part.charCodeAt(length) === unit) length += 1;
    borders[index] = length;
  }
  return borders;
}
