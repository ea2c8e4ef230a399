import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { registry } from './operations/registry.ts';
import {
  describeOutcome,
  loadCases,
  loadContradictions,
  runCase,
  type GoldenCase,
} from './run-golden.ts';

/** The case bank is beside the checkout, or in SHARED_DIRECTORY. */
const shared =
  process.env['SHARED_DIRECTORY'] ?? fileURLToPath(new URL('../../../shared', import.meta.url));
const contradictions = loadContradictions();

for (const part of ['upstream', 'peers']) {
  const directory = join(shared, 'golden', part);
  const present = existsSync(directory);
  if (!present) process.stdout.write(`golden ${part}: skipped, there is no ${directory}\n`);
  const describeBank = present ? describe : describe.skip;
  describeBank(present ? `golden ${part}` : `golden ${part} [needs SHARED_DIRECTORY]`, () => {
    const byArea = present ? groupByArea(loadCases(directory)) : new Map<string, GoldenCase[]>();
    test('there are cases', () => expect(byArea.size).toBeGreaterThan(0));
    for (const [area, cases] of byArea) {
      test(`${area}: ${cases.length} cases`, () => {
        const outcomes = cases.map((golden) => ({
          golden,
          outcome: runCase(golden, registry, contradictions),
        }));
        for (const { golden, outcome } of outcomes) {
          if (outcome.kind === 'contradicted') {
            process.stdout.write(`${describeOutcome(golden, outcome).join('\n')}\n`);
          }
        }
        const problems = outcomes
          .filter(({ outcome }) => outcome.kind === 'failed' || outcome.kind === 'unsupported')
          .flatMap(({ golden, outcome }) => describeOutcome(golden, outcome));
        expect(problems).toEqual([]);
      });
    }
  });
}

test('a contradiction names the rule that decides and our figures', () => {
  for (const { id, rule, expect: ours } of contradictions) {
    expect(id).not.toBe('');
    expect(rule).toMatch(/^(billing|money|metering|rulings|interface)/);
    expect(Object.keys(ours).length).toBeGreaterThan(0);
  }
  expect(new Set(contradictions.map(({ id }) => id)).size).toBe(contradictions.length);
});

function groupByArea(cases: readonly GoldenCase[]): Map<string, GoldenCase[]> {
  const groups = new Map<string, GoldenCase[]>();
  for (const golden of cases) {
    groups.set(golden.area, [...(groups.get(golden.area) ?? []), golden]);
  }
  return groups;
}
