import { existsSync, readFileSync } from 'node:fs';

/** docs/security.md names tests that exist, and each threat once. */
describe('docs/security.md', () => {
  const root = new URL('../../', import.meta.url);
  const page = readFileSync(new URL('docs/security.md', root), 'utf8');
  const rows = page.split('\n').filter((line) => /^\| [A-Z]\d+ \|/.test(line));

  test('every threat has a defence and an existing test', () => {
    expect(rows.length).toBeGreaterThan(15);
    const wrong = rows.filter((row) => {
      const [, , threat, holds, tests] = row.split('|').map((cell) => cell.trim());
      const files = [...tests!.matchAll(/`([^`]+)`/g)].map((match) => match[1]!);
      return (
        threat === '' ||
        holds === '' ||
        files.length === 0 ||
        !files.every((file) => existsSync(new URL(file, root)))
      );
    });
    expect(wrong).toEqual([]);
  });

  test('every number is used once', () => {
    const numbers = rows.map((row) => row.split('|')[1]!.trim());
    expect(numbers).toEqual([...new Set(numbers)]);
  });

  test('links to pages of the repository lead somewhere', () => {
    const links = [...page.matchAll(/\]\(([^)#]+)[^)]*\)/g)].map((match) => match[1]!);
    expect(links.filter((link) => !existsSync(new URL(`docs/${link}`, root)))).toEqual([]);
  });
});
