import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import ts from 'typescript';

/** Habits that a formatter and a compiler cannot check. Each rule names what to do instead. */
const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
  encoding: 'utf8',
})
  .split('\n')
  .filter((name) => /\.(ts|tsx|css|js|cjs|mjs|sql|yml|md)$/.test(name));
const read = (name: string) => readFileSync(name, 'utf8');
const sources = files.filter(
  (name) => /\.tsx?$/.test(name) && !name.startsWith('test/') && !name.startsWith('bench/'),
);

function offenders(names: readonly string[], pattern: RegExp): string[] {
  return names.flatMap((name) => {
    const lines = read(name).split('\n');
    return lines.flatMap((line, index) =>
      pattern.test(line) ? [`${name}:${index + 1}: ${line.trim()}`] : [],
    );
  });
}

/** Whether a tagged template, or a text that begins like a statement, is in the file. */
function containsSql(name: string): boolean {
  const statement = /^.\s*(select|insert into|delete from|with \w+ as|update \w+\s+set)\s/i;
  const find = (node: ts.Node): boolean => {
    if (ts.isTaggedTemplateExpression(node) && node.tag.getText() !== 'String.raw') return true;
    const isText = ts.isStringLiteralLike(node) || ts.isTemplateExpression(node);
    if (isText && statement.test(node.getText())) return true;
    return ts.forEachChild(node, find) ?? false;
  };
  return find(ts.createSourceFile(name, read(name), ts.ScriptTarget.Latest, true));
}

/**
 * Files whose SQL is still to be moved into a repository. The list only shrinks: a file without SQL is taken
 * out, and no file is added.
 */
const STILL_WITH_SQL: readonly string[] = [
  'api/billing/alerts/create-alert-setting.ts',
  'api/billing/balances/evaluate-wallet.ts',
  'api/billing/balances/feature-alerts.ts',
  'api/billing/checkout/discard-gate.ts',
  'api/billing/checkout/page.ts',
  'api/billing/computing/revise-invoice-payment.ts',
  'api/billing/credits/audit-wallets.ts',
  'api/billing/credits/ledger.ts',
  'api/billing/dashboard/revenue.ts',
  'api/billing/dashboard/summary.ts',
  'api/billing/gateways/open-gateway.ts',
  'api/billing/invoices/list-invoices.ts',
  'api/billing/late-usage/report-late-usage.ts',
  'api/billing/payments/apply-gateway.ts',
  'api/billing/payments/receive-event.ts',
  'api/billing/portal/embedding.ts',
  'api/billing/records/children.ts',
  'api/billing/records/payment-notification.ts',
  'api/billing/subscriptions/activate-subscription.ts',
  'api/billing/subscriptions/changes/change-coupons.ts',
  'api/billing/subscriptions/changes/move-line-coupons.ts',
  'api/billing/subscriptions/changes/schedules.ts',
  'api/billing/subscriptions/collect-opening.ts',
  'api/billing/subscriptions/create-subscription.ts',
  'api/billing/subscriptions/discard-draft.ts',
  'api/billing/subscriptions/edit-phases.ts',
  'api/billing/subscriptions/final-draft.ts',
  'api/billing/subscriptions/read-subscriptions.ts',
  'api/billing/subscriptions/sync-plan-prices.ts',
  'api/billing/test-clocks/advance-test-clock.ts',
  'api/billing/test-clocks/delete-test-clock.ts',
  'api/billing/wallets/credit-wallet.ts',
  'api/billing/wallets/freeze-wallet.ts',
];

describe('tidy', () => {
  test('the tree is not empty', () => expect(sources.length).toBeGreaterThan(10));

  test('no focused or skipped tests are left behind', () => {
    const tests = files.filter((name) => name.endsWith('.test.ts') && name !== 'test/tidy.test.ts');
    expect(offenders(tests, /\b(it|test|describe)\.(only|skip)\(/)).toEqual([]);
  });

  test('no any, no ts-ignore: say the type', () => {
    expect(offenders(sources, /\bas any\b|: any\b|@ts-ignore|@ts-nocheck/)).toEqual([]);
  });

  test('no marks of unfinished work', () => {
    expect(offenders(sources, /\b(TODO|FIXME|XXX|HACK)\b/)).toEqual([]);
  });

  test('domain/ has no clock, no randomness, no floats from text', () => {
    const domain = sources.filter((name) => name.startsWith('domain/'));
    expect(offenders(domain, /new Date\(|Date\.now|Math\.random|parseFloat|process\.env/)).toEqual(
      [],
    );
  });

  test('the environment is read in platform/config.ts and main/ only', () => {
    const inner = sources.filter(
      (name) => !name.startsWith('main/') && name !== 'platform/config.ts',
    );
    expect(offenders(inner, /process\.env(?!\s*[,}])/)).toEqual([]);
  });

  test('no comment line is longer than 120 columns', () => {
    const code = files.filter((name) => /\.(ts|tsx|js|cjs|mjs)$/.test(name));
    expect(offenders(code, /^(?=\s*(?:\/\/|\/\*|\*)).{121}/)).toEqual([]);
  });

  test('every function that domain/README.md names exists', () => {
    const domain = sources
      .filter((name) => name.startsWith('domain/'))
      .map(read)
      .join('\n');
    const named = [...read('domain/README.md').matchAll(/`([a-z]+[A-Z]\w*)(?:\([^`]*\))?`/g)];
    expect(named.length).toBeGreaterThan(50);
    expect(
      named.map(([, name]) => name!).filter((name) => !new RegExp(`\\b${name}\\b`).test(domain)),
    ).toEqual([]);
  });

  test('only repositories contain SQL', () => {
    const others = sources.filter(
      (name) => /^(api|ingest)\//.test(name) && !name.endsWith('repository.ts'),
    );
    expect(others.length).toBeGreaterThan(300);
    expect(others.filter(containsSql)).toEqual(STILL_WITH_SQL);
  });

  test('no console.log outside main/: use the logger', () => {
    expect(
      offenders(
        sources.filter((name) => !name.startsWith('main/')),
        /console\.log\(/,
      ),
    ).toEqual([]);
  });

  test('file names are kebab-case', () => {
    expect(sources.filter((name) => !/^[a-z0-9/.-]+$/.test(name))).toEqual([]);
  });

  test('no folder of leftovers: utils, helpers, common, misc', () => {
    expect(
      files.filter((name) => /(^|\/)(utils?|helpers?|common|misc)(\/|\.ts$)/.test(name)),
    ).toEqual([]);
  });
});
