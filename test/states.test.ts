import { readFileSync, writeFileSync } from 'node:fs';
import { MACHINES } from './states/callers.ts';
import { ANY, readCode } from './states/code.ts';
import { statesDocument } from './states/document.ts';

/** Rules: billing 19, money 21. `UPDATE_STATES=1` writes the page again. */
const code = readCode(MACHINES.map(({ moves }) => moves));
const page = new URL('../docs/states.md', import.meta.url);

describe.each(MACHINES)('$machine.noun', ({ machine, moves, callers }) => {
  const calls = code.calls.filter((call) => call.moves === moves);

  test('the code fires every trigger that has a caller, and no other', () => {
    const fired = new Set(calls.flatMap(({ triggers }) => triggers));
    // The client or the gateway names the state.
    if (fired.has(ANY)) return expect(machine.refusal).toBe('validation_error');
    const called = machine.triggers.filter((trigger) => callers[trigger]!.length > 0);
    expect([...fired].sort()).toEqual([...called].sort());
  });

  test('every trigger has a caller, unless the client sends states that other records decide', () => {
    const uncalled = machine.triggers.filter((trigger) => callers[trigger]!.length === 0);
    if (machine.field !== 'payment_status') expect(uncalled).toEqual([]);
  });

  const claims = machine.triggers.flatMap((trigger) =>
    callers[trigger]!.map((caller) => ({ trigger, caller })),
  );
  test.each(claims)('$caller can fire $trigger', ({ trigger, caller }) => {
    const reached = code.reachedBy(caller);
    if (reached === null) throw new Error(`there is no ${caller}`);
    const firing = calls.filter(
      ({ triggers }) => triggers.includes(trigger) || triggers.includes(ANY),
    );
    expect(firing.some((call) => reached.has(call.in))).toBe(true);
  });
});

test('docs/states.md says what the tables and the callers say', () => {
  const text = statesDocument();
  if (process.env['UPDATE_STATES'] === '1') writeFileSync(page, text);
  expect(readFileSync(page, 'utf8')).toBe(text);
});
