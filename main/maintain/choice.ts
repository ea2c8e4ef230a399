import { Misused } from './command.ts';

/**
 * The choice that a command takes as its only word; `list` without one. `plans` has the choices, each with what
 * it does; `expected` says them in words.
 */
export function choiceOf<Choice extends string>(
  plans: Readonly<Record<Choice, string>>,
  words: readonly string[],
  expected: string,
): Choice | 'list' {
  const [choice = 'list', ...more] = words;
  if (more.length > 0 || !Object.hasOwn(plans, choice)) throw new Misused(expected);
  return choice as Choice | 'list';
}
