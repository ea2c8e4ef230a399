import { versionForPeriod, versionToShow } from '../../../domain/metering/version-for-period.ts';

const version = (number: number, created: string, more: object = {}) => ({
  id: `meterv_${number}`,
  version: number,
  dimensions: [] as string[],
  backfill_state: 'complete',
  created_at: `2026-${created}T00:00:00.000Z`,
  effective_from: null as string | null,
  ...more,
});
const chosen = (versions: ReturnType<typeof version>[], day: string, dimensions: string[] = []) =>
  versionForPeriod(versions, dimensions, `2026-${day}T00:00:00.000Z`)?.version ?? null;

describe('the meter version that rates a period', () => {
  const versions = [version(3, '03-10'), version(1, '01-01'), version(2, '02-10')];
  test.each`
    periodStart | expected | why
    ${'03-10'}  | ${3}     | ${'it existed when the period began'}
    ${'03-09'}  | ${2}     | ${'an edit applies from the next period'}
    ${'02-01'}  | ${1}     | ${'an edit applies from the next period'}
    ${'01-01'}  | ${1}     | ${'the first'}
  `('period from $periodStart: version $expected, $why', ({ periodStart, expected }) => {
    expect(chosen(versions, periodStart)).toBe(expected);
  });

  test('a period before the meter existed is rated by the first version', () => {
    expect(versionForPeriod(versions, [], '2020-01-01T00:00:00.000Z')?.version).toBe(1);
  });
  test('an edit that was requested from a date applies to periods that begin at or after it', () => {
    const asked = version(4, '05-10', { effective_from: '2026-02-10T00:00:00.000Z' });
    expect(chosen([...versions, asked], '02-09')).toBe(1);
    expect(chosen([...versions, asked], '02-10')).toBe(4);
    expect(chosen([...versions, asked], '03-10')).toBe(4);
    const later = version(4, '04-01', { effective_from: '2026-07-01T00:00:00.000Z' });
    expect(chosen([...versions, later], '06-30')).toBe(3);
    expect(chosen([...versions, later], '07-01')).toBe(4);
  });
  test('a version whose backfill runs is passed over', () => {
    const running = version(4, '04-01', { backfill_state: 'replaying' });
    expect(chosen([...versions, running], '05-01')).toBe(3);
  });
  test('null while no version is complete', () => {
    expect(chosen([version(1, '01-01', { backfill_state: 'waiting' })], '05-01')).toBeNull();
  });
  test('a version that is set aside is answered by the next one that is whole, and never by an older one', () => {
    const aside = version(3, '03-10', { backfill_state: 'set_aside' });
    const older = versions.filter((one) => one.version !== 3);
    expect(chosen([...older, aside], '03-09')).toBe(2);
    expect(chosen([...older, aside], '05-01')).toBe(3);
    const running = version(4, '06-01', { backfill_state: 'replaying' });
    expect(chosen([...older, aside, running], '05-01')).toBe(3);
    const whole = version(5, '07-01');
    expect(chosen([...older, aside, running, whole], '05-01')).toBe(5);
    expect(chosen([version(1, '01-01', { backfill_state: 'set_aside' })], '05-01')).toBe(1);
  });
  test('a question that names a dimension needs a version that keeps it, whenever it was made', () => {
    const wide = version(4, '06-01', { dimensions: ['model', 'region'] });
    expect(chosen([...versions, wide], '05-01', ['region'])).toBe(4);
    expect(chosen([...versions, wide], '05-01', ['region', 'zone'])).toBeNull();
  });
});

describe('the version that answers what is only shown', () => {
  const shown = (versions: ReturnType<typeof version>[], dimensions: string[] = []) =>
    versionToShow(versions, dimensions, '2026-05-01T00:00:00.000Z')?.version ?? null;
  const first = version(1, '06-01', { backfill_state: 'waiting' });

  test('is the one that rates the period as soon as there is one', () => {
    const edit = version(2, '04-01', { backfill_state: 'verifying' });
    expect(shown([version(1, '01-01'), edit])).toBe(1);
  });
  test.each(['waiting', 'replaying', 'sealing', 'verifying', 'mismatched'])(
    'is the first one while it is %s',
    (backfill_state) => expect(shown([{ ...first, backfill_state }])).toBe(1),
  );
  test('is the one that will rate a question about a dimension', () => {
    const wide = version(2, '06-02', { backfill_state: 'waiting', dimensions: ['region'] });
    expect(shown([first, wide], ['region'])).toBe(2);
    expect(shown([first, wide])).toBe(1);
    expect(shown([first, wide], ['zone'])).toBeNull();
  });
});
