import { isChargedIn, oneTimeTiming } from '../../../domain/time/charge-timing.ts';

const period = { start: '2026-01-01T00:00:00Z', end: '2026-02-01T00:00:00Z' };
const NEXT = '2026-03-01T00:00:00Z';

describe('a charge with a service period (billing 3.1)', () => {
  test.each<['ADVANCE' | 'ARREAR', string, string, boolean]>([
    ['ADVANCE', '2026-01-01T00:00:00Z', '2026-02-01T00:00:00Z', true],
    ['ADVANCE', '2026-01-31T23:59:59.999Z', '2026-04-01T00:00:00Z', true],
    ['ADVANCE', '2026-02-01T00:00:00Z', '2026-03-01T00:00:00Z', false],
    ['ADVANCE', '2025-12-31T23:59:59.999Z', '2026-02-01T00:00:00Z', false],
    ['ARREAR', '2026-01-01T00:00:00Z', '2026-02-01T00:00:00Z', true],
    ['ARREAR', '2025-12-01T00:00:00Z', '2026-01-01T00:00:00Z', false],
    ['ARREAR', '2025-12-01T00:00:00Z', '2026-01-01T00:00:00.001Z', true],
    ['ARREAR', '2026-01-01T00:00:00Z', '2026-02-01T00:00:00.001Z', false],
  ])('%s [%s, %s): %s', (cadence, start, end, charged) => {
    expect(isChargedIn(cadence, { start, end }, period)).toBe(charged);
  });
});

describe('a one-time charge', () => {
  const timing = (invoice_cadence: 'ADVANCE' | 'ARREAR', start_date: string, is_first?: boolean) =>
    oneTimeTiming({ invoice_cadence, start_date }, { ...period, is_first }, NEXT);

  test.each<['ADVANCE' | 'ARREAR', string, string]>([
    ['ADVANCE', '2025-12-31T23:59:59.999Z', 'none'],
    ['ADVANCE', '2026-01-01T00:00:00Z', 'current_advance'],
    ['ADVANCE', '2026-01-31T23:59:59.999Z', 'current_advance'],
    ['ADVANCE', '2026-02-01T00:00:00Z', 'next_advance'],
    ['ADVANCE', '2026-02-28T23:59:59.999Z', 'next_advance'],
    ['ADVANCE', '2026-03-01T00:00:00Z', 'none'],
    ['ARREAR', '2026-01-01T00:00:00Z', 'none'],
    ['ARREAR', '2026-01-01T00:00:00.001Z', 'current_arrear'],
    ['ARREAR', '2026-02-01T00:00:00Z', 'current_arrear'],
    ['ARREAR', '2026-02-01T00:00:00.001Z', 'none'],
  ])('%s on %s: %s', (cadence, date, expected) => expect(timing(cadence, date)).toBe(expected));

  test('the first period holds an ARREAR charge of its own start, and nothing before', () => {
    expect(timing('ARREAR', '2026-01-01T00:00:00Z', true)).toBe('current_arrear');
    expect(timing('ARREAR', '2026-01-01T00:00:00Z', false)).toBe('none');
    expect(timing('ARREAR', '2025-12-31T23:59:59.999Z', true)).toBe('none');
  });
});
