/** What `domain/` uses of it; the build puts `assert.ts` in its place. */
declare module 'node:assert/strict' {
  export default function assert(condition: unknown, message?: string): asserts condition;
}
