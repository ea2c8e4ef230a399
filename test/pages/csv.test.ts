import { csvText } from '../../web/ui/csv.ts';

/** Files of lists open in spreadsheets, which run what looks like a formula (tenancy S22). */
const cellOf = (text: string): string => csvText([[text]]).slice(0, -2);

test.each([
  ['=1+1', `'=1+1`],
  ['+1', `'+1`],
  ['@SUM(A1)', `'@SUM(A1)`],
  ['-A1', `'-A1`],
  ['-2+3', `'-2+3`],
  [`-2+3+cmd|' /C calc'!A0`, `'-2+3+cmd|' /C calc'!A0`],
  ['-1e5', `'-1e5`],
])('%s gets a leading quote', (text, cell) => {
  expect(cellOf(text)).toBe(cell);
});

test.each(['-5', '-0.25', '-974.123456789012345678', '7', '', 'a-b', '2026-04-01T00:00:00.000Z'])(
  '%s stays as it is',
  (text) => {
    expect(cellOf(text)).toBe(text);
  },
);

test('a delimiter, a quote or a line end is quoted', () => {
  expect(csvText([['a,b', 'say "hi"', 'one\r\ntwo'], ['']])).toBe(
    '"a,b","say ""hi""","one\r\ntwo"\r\n\r\n',
  );
});
