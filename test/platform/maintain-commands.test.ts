import { readFileSync } from 'node:fs';
import { Misused } from '../../main/maintain/command.ts';
import { COMMANDS, commandList } from '../../main/maintain/commands.ts';

describe('commands of `npm run maintain`', () => {
  test('the list has one line of at most 120 columns for each', () => {
    const lines = commandList().trimEnd().split('\n');
    expect(lines).toHaveLength(COMMANDS.length);
    expect(lines.filter((line) => line.length > 120)).toEqual([]);
  });

  test('names are kebab-case, and each is there once', () => {
    const names = COMMANDS.map(({ name }) => name);
    expect(names.filter((name) => !/^[a-z]+(-[a-z]+)*$/.test(name))).toEqual([]);
    expect(new Set(names).size).toBe(names.length);
  });

  test.each(COMMANDS)('docs/operations.md lists $name', ({ name }) => {
    expect(readFileSync('docs/operations.md', 'utf8')).toContain(`| \`${name}`);
  });

  test.each(COMMANDS.filter(({ takes }) => takes === ''))('$name takes no words', ({ plan }) => {
    expect(plan([])).toMatch(/^[a-z]/);
    expect(() => plan(['word'])).toThrow(Misused);
  });

  test.each([
    ['resize-log', [], 'takes the new number of partitions, 1 to 1024'],
    ['resize-log', ['0'], 'takes the new number of partitions, 1 to 1024'],
    ['resize-log', ['2000'], 'takes at most 1024 partitions, but got 2000'],
    ['log', ['resume'], 'takes nothing (lists stopped partitions), replay or new-epoch'],
    ['log', ['replay', 'all'], 'takes nothing (lists stopped partitions), replay or new-epoch'],
    ['set-aside-records', ['all'], 'takes nothing (lists what was set aside) or retake'],
    ['audit', [], 'takes the word verify, then kept heads if any'],
    ['audit', ['verify', 'x'], 'takes heads as the log prints them'],
  ])('%s %j is refused before anything is done', (name, words, message) => {
    const command = COMMANDS.find((known) => known.name === name)!;
    expect(() => command.plan(words)).toThrow(message);
  });
});
