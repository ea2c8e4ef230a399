import { compileFilters, matchesFilterValues } from '../../../domain/metering/match.ts';

describe('meter filters', () => {
  const filter = (key: string, ...values: string[]) => ({ key, values });

  test.each<[string, { key: string; values: string[] }[], Record<string, unknown>, boolean]>([
    ['no filter matches everything', [], {}, true],
    ['the value is in the list', [filter('region', 'eu', 'us')], { region: 'us' }, true],
    ['the value is not in the list', [filter('region', 'eu', 'us')], { region: 'af' }, false],
    ['case counts', [filter('region', 'eu')], { region: 'EU' }, false],
    ['a missing key does not match', [filter('region', 'eu')], {}, false],
    ['not even an empty value', [filter('region', '')], {}, false],
    ['an empty string is a value', [filter('region', '')], { region: '' }, true],
    ['null is missing', [filter('region', 'null')], { region: null }, false],
    ['every key must match', [filter('a', '1'), filter('b', '2')], { a: '1', b: '3' }, false],
    ['every key matches', [filter('a', '1'), filter('b', '2')], { a: '1', b: '2' }, true],
    ['numbers by their text', [filter('tier', '5')], { tier: 5 }, true],
    ['1.0 in JSON is the number 1', [filter('tier', '1')], JSON.parse('{"tier": 1.0}'), true],
    ['large numbers without exponent', [filter('n', '1000000000000000000000')], { n: 1e21 }, true],
    ['booleans by their text', [filter('spot', 'true')], { spot: true }, true],
    ['a list is no scalar', [filter('tags', 'a')], { tags: ['a'] }, false],
    ['an object is no scalar', [filter('o', '[object Object]')], { o: {} }, false],
    ['an empty list of values matches nothing', [filter('region')], { region: 'eu' }, false],
    ['inherited members are missing', [filter('constructor', 'x')], {}, false],
    ['one key twice must hold twice', [filter('a', '1', '2'), filter('a', '2')], { a: '1' }, false],
  ])('%s', (_title, filters, properties, matches) => {
    expect(compileFilters(filters)(properties)).toBe(matches);
  });
});

describe('filter values of a price', () => {
  const values: Record<string, string> = { region: 'eu', model: 'large', empty: '' };
  const valueOf = (key: string) => values[key] ?? '';

  test.each<[Record<string, string[]>, boolean]>([
    [{}, true],
    [{ region: ['eu'] }, true],
    [{ region: ['us', 'eu'], model: ['large'] }, true],
    [{ region: ['us'] }, false],
    [{ region: ['eu'], model: ['small'] }, false],
    [{ other: ['x'] }, false],
    [{ empty: [''] }, false],
    [{ region: [] }, false],
  ])('%j: %s', (filter, matches) => {
    expect(matchesFilterValues(filter, valueOf)).toBe(matches);
  });
});
