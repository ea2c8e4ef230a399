import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { registry } from './operations/registry.ts';
import {
  describeOutcome,
  loadCases,
  loadContradictions,
  runCase,
  type GoldenCase,
} from './run-golden.ts';

/** The case bank stands beside the checkout; a checkout without it has nothing to compare with. */
const bank = fileURLToPath(new URL('../../../shared/golden/', import.meta.url));
const contradictions = loadContradictions();

for (const part of ['upstream', 'peers']) {
  const directory = `${bank}${part}`;
  if (!existsSync(directory)) {
    process.stdout.write(`golden ${part}: skipped, there is no ${directory}\n`);
    test(`golden ${part}: no case bank, so nothing may claim to contradict it`, () => {
      expect(contradictions.every(({ rule }) => rule.length > 0)).toBe(true);
    });
    continue;
  }
  describe(`golden ${part}`, () => {
    const byArea = groupByArea(loadCases(directory));
    for (const [area, cases] of byArea) {
      test(`${area}: ${cases.length} cases`, () => {
        const problems = cases.flatMap((golden) => {
          const outcome = runCase(golden, registry, contradictions);
          return outcome.kind === 'passed' || outcome.kind === 'contradicted'
            ? []
            : describeOutcome(golden, outcome);
        });
        expect(problems).toEqual([]);
      });
    }
  });
}

function groupByArea(cases: readonly GoldenCase[]): Map<string, GoldenCase[]> {
  const groups = new Map<string, GoldenCase[]>();
  for (const golden of cases) {
    groups.set(golden.area, [...(groups.get(golden.area) ?? []), golden]);
  }
  return groups;
}
