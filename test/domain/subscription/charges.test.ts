import {
  chargesOnInvoice,
  type ChargedLine,
  type InvoiceScope,
} from '../../../domain/subscription/charges.ts';

const day = (text: string) => `2026-${text}T00:00:00.000Z`;
const period = (start: string, end: string) => ({ start: day(start), end: day(end) });

const schedule = {
  start_date: day('01-01'),
  end_date: null,
  billing_anchor: day('01-01'),
  billing_cycle: 'anniversary' as const,
  billing_period: 'MONTHLY' as const,
  billing_period_count: 1,
  customer_timezone: 'UTC',
};

const line = (id: string, type: string, cadence: string, more: Partial<ChargedLine> = {}) =>
  ({
    id,
    price_type: type,
    invoice_cadence: cadence,
    billing_period: 'MONTHLY',
    billing_period_count: 1,
    start_date: day('01-01'),
    end_date: null,
    ...more,
  }) as ChargedLine;

const charged = (lines: ChargedLine[], scope: InvoiceScope, more: object = {}) =>
  chargesOnInvoice({ ...schedule, ...more }, lines, scope).map(({ line, cell }) =>
    'at' in cell
      ? `${line.id} at ${cell.at.slice(5, 10)}`
      : `${line.id} ${cell.service.start.slice(5, 10)}..${cell.service.end.slice(5, 10)}`,
  );

const lines = [
  line('usage', 'USAGE', 'ARREAR'),
  line('advance', 'FIXED', 'ADVANCE'),
  line('arrear', 'FIXED', 'ARREAR'),
];
const opening: InvoiceScope = { closing: null, opening: period('01-01', '02-01') };
const cycle: InvoiceScope = {
  closing: period('01-01', '02-01'),
  opening: period('02-01', '03-01'),
};

describe('which charge goes on which invoice (billing 3.1)', () => {
  test('opening: advances of the first period alone', () => {
    expect(charged(lines, opening)).toEqual(['advance 01-01..02-01']);
  });
  test('cycle: arrears and usage of the closing period, advances of the next; fixed before usage', () => {
    expect(charged(lines, cycle)).toEqual([
      'advance 02-01..03-01',
      'arrear 01-01..02-01',
      'usage 01-01..02-01',
    ]);
  });
  test('the last period opens no other', () => {
    expect(charged(lines, { ...cycle, opening: null })).toEqual([
      'arrear 01-01..02-01',
      'usage 01-01..02-01',
    ]);
  });
  test('a shorter price is charged cell by cell', () => {
    const quarter = { closing: period('01-01', '04-01'), opening: null };
    expect(charged([lines[0]!], quarter, { billing_period: 'QUARTERLY' })).toEqual([
      'usage 01-01..02-01',
      'usage 02-01..03-01',
      'usage 03-01..04-01',
    ]);
  });
  test('the line cuts the service; one that is over or has not begun is not charged', () => {
    const cut = [
      line('late', 'USAGE', 'ARREAR', { start_date: day('01-11') }),
      line('ended', 'USAGE', 'ARREAR', { end_date: day('01-21') }),
      line('gone', 'USAGE', 'ARREAR', { start_date: day('01-01'), end_date: day('01-01') }),
      line('future', 'USAGE', 'ARREAR', { start_date: day('02-01') }),
      line('starts later', 'FIXED', 'ADVANCE', { start_date: day('02-11') }),
    ];
    expect(charged(cut, cycle)).toEqual([
      'starts later 02-11..03-01',
      'late 01-11..02-01',
      'ended 01-01..01-21',
    ]);
  });
});

describe('one-time charges (billing 3.1)', () => {
  const once = (cadence: string, start: string) =>
    line('once', 'FIXED', cadence, { billing_period: 'ONETIME', start_date: day(start) });
  const later = { start_date: day('01-01').replace('2026', '2025') };
  test.each`
    cadence      | at         | scope      | name           | due
    ${'ADVANCE'} | ${'01-01'} | ${opening} | ${'opening'}   | ${true}
    ${'ADVANCE'} | ${'01-31'} | ${opening} | ${'opening'}   | ${true}
    ${'ADVANCE'} | ${'02-01'} | ${opening} | ${'opening'}   | ${false}
    ${'ADVANCE'} | ${'01-31'} | ${cycle}   | ${'cycle'}     | ${true}
    ${'ADVANCE'} | ${'02-01'} | ${cycle}   | ${'cycle'}     | ${true}
    ${'ADVANCE'} | ${'03-01'} | ${cycle}   | ${'cycle'}     | ${false}
    ${'ARREAR'}  | ${'01-01'} | ${opening} | ${'opening'}   | ${false}
    ${'ARREAR'}  | ${'01-01'} | ${cycle}   | ${'1st cycle'} | ${true}
    ${'ARREAR'}  | ${'01-01'} | ${cycle}   | ${'cycle'}     | ${false}
    ${'ARREAR'}  | ${'02-01'} | ${cycle}   | ${'cycle'}     | ${true}
    ${'ARREAR'}  | ${'02-02'} | ${cycle}   | ${'cycle'}     | ${false}
  `('$cadence dated $at on $name: $due', ({ cadence, at, scope, name, due }) => {
    const more = name === 'cycle' ? later : {};
    expect(charged([once(cadence, at)], scope, more)).toEqual(due ? [`once at ${at}`] : []);
  });
});
