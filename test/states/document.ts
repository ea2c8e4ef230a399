import { canMove, move } from '../../domain/states/state-machine.ts';
import { BillingError } from '../../domain/errors.ts';
import { MACHINES, type DescribedMachine } from './callers.ts';

const INTRO = `# States and transitions

Every record with a state moves by one table in \`domain/states\`. A route, a job or the operator fires a trigger; the table gives the
state after it. A trigger that the table does not have for a state is refused with 400 and changes nothing: the code of the refusal is
\`invalid_operation\`, or \`validation_error\` if the client sends the target state; the detail code is \`illegal_transition\`. Some routes refuse earlier, with a message of their own.

This page is generated from the tables and from the list of callers in \`test/states/callers.ts\`. \`test/states.test.ts\` compares both with the code: a trigger
without a caller, a caller that cannot reach the move, and a move without a row fail. \`test/api/states.test.ts\` drives the transitions over HTTP.

In the tables, \`new\` creates the record, \`=\` is an accepted request that changes nothing, and \`.\` is refused.
`;

/** The text of `docs/states.md`. */
export const statesDocument = (): string => [INTRO, ...MACHINES.map(section)].join('\n');

function section({ machine, callers }: DescribedMachine): string {
  const { noun, field, states, triggers } = machine;
  const froms: readonly (string | null)[] = [null, ...states];
  const cell = (from: string | null, trigger: string): string => {
    if (!canMove(machine, from, trigger)) return '.';
    const to = move(machine, from, trigger);
    return to === from ? '=' : `\`${to}\``;
  };
  const title = noun.charAt(0).toUpperCase() + noun.slice(1);
  const rows = triggers.map(
    (trigger) =>
      `| \`${trigger}\` | ${froms.map((from) => cell(from, trigger)).join(' | ')} | ${named(callers[trigger]!)} |`,
  );
  return `## ${title}: \`${field}\`

| trigger | ${froms.map((from) => (from === null ? 'new' : `\`${from}\``)).join(' | ')} | fired by |
| --- | ${froms.map(() => '---').join(' | ')} | --- |
${rows.join('\n')}

| refused in | answer |
| --- | --- |
${froms.map((from) => refusal(machine, from)).join('\n')}
`;
}

const named = (callers: readonly string[]): string =>
  callers.length === 0
    ? 'derived from other records'
    : callers.map((caller) => `\`${caller}\``).join(', ');

function refusal(machine: DescribedMachine['machine'], from: string | null): string {
  const refused = machine.triggers.find((trigger) => !canMove(machine, from, trigger));
  const state = from === null ? 'new' : `\`${from}\``;
  if (refused === undefined) return `| ${state} | nothing is refused |`;
  try {
    move(machine, from, refused);
  } catch (error) {
    if (!(error instanceof BillingError)) throw error;
    return `| ${state} | ${error.code}: ${error.message.replace(refused, '…')} |`;
  }
  throw new Error('a refused trigger was accepted');
}
