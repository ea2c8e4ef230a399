/** `node:assert/strict` for code of `domain/` that runs in the browser. */
export default function assert(condition: unknown, message?: string): asserts condition {
  if (condition !== true && !condition) throw new Error(message ?? 'assertion failed');
}
