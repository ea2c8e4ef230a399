import { explainedSteps, explainText } from '../../../domain/pricing/explain-text.ts';
import { examples } from './explained-examples.ts';
import { shareText, shortInstant, spanText } from '../../../domain/pricing/span-text.ts';
import { textTable } from '../../../domain/pricing/text-table.ts';
import { windowsWithin } from '../../../domain/time/usage-windows.ts';
import type { Explanation, ExplanationStep } from '../../../schemas/explanation.ts';
import { at, flat, JANUARY, pack, slab, span, usageLine } from './lines.ts';

describe('a table of text', () => {
  test('text to the left, decimals with their points below each other', () => {
    expect(
      textTable([
        ['window', 'units', 'amount'],
        ['a', '1.5', '-10'],
        ['long name', '100', '2.25'],
      ]),
    ).toEqual(['window     units  amount', 'a            1.5  -10', 'long name  100      2.25']);
  });

  test('a word may replace a number', () => {
    expect(textTable([['up to'], ['10'], ['open'], ['5.5']])).toEqual([
      ' up to',
      '  10',
      'open',
      '   5.5',
    ]);
  });

  test('an empty column is omitted, also with an empty heading', () => {
    expect(
      textTable([
        ['', 'b'],
        ['', '2'],
        ['', '30'],
      ]),
    ).toEqual([' b', ' 2', '30']);
    expect(
      textTable([
        ['a', ''],
        ['x', ''],
        ['y', 'z'],
      ]),
    ).toEqual(['a', 'x', 'y  z']);
  });

  test('short rows end early, and no line ends in a space', () => {
    const lines = textTable([['a', 'b', 'c'], ['1'], ['2', 'x'], ['3', '', '9']]);
    expect(lines).toEqual(['a  b  c', '1', '2  x', '3     9']);
  });

  test('a column of text that looks mixed stays text', () => {
    expect(textTable([['x'], ['10'], ['2026-01-01']])).toEqual(['x', '10', '2026-01-01']);
    expect(textTable([['x'], ['a'], ['bb']])).toEqual(['x', 'a', 'bb']);
    expect(textTable([['xxx'], ['10'], ['1b']])).toEqual(['xxx', '10', '1b']);
    expect(textTable([['xxx'], ['10'], ['b1']])).toEqual(['xxx', '10', 'b1']);
  });
});

const explanation = (...steps: ExplanationStep[]): Explanation => ({
  kind: 'base',
  currency: 'usd',
  period: JANUARY,
  quantity: '1',
  amount: '5',
  steps,
});
const bodyOf = (step: ExplanationStep) => explainText(explanation(step)).split('\n').slice(2, -1);

describe('instants and shares', () => {
  test.each`
    instant                       | short
    ${'2026-01-01T00:00:00.000Z'} | ${'1 Jan 2026'}
    ${'2026-01-01T09:30:00.000Z'} | ${'1 Jan 2026, 09:30 UTC'}
    ${'2026-01-01T09:30:15.000Z'} | ${'1 Jan 2026, 09:30:15 UTC'}
    ${'2026-01-01T09:30:15.250Z'} | ${'1 Jan 2026, 09:30:15.250 UTC'}
    ${'2026-01-01T10:00:00.000Z'} | ${'1 Jan 2026, 10:00 UTC'}
  `('$instant: $short', ({ instant, short }) => {
    expect(shortInstant(instant)).toBe(short);
  });

  test('a period, and the instant of a one-time charge', () => {
    expect(spanText(JANUARY)).toBe('1 Jan 2026 – 31 Jan 2026');
    expect(spanText(span('2026-01-01', '2026-01-02'))).toBe('1 Jan 2026');
    expect(spanText({ start: JANUARY.start, end: '2026-01-02T05:00:00.000Z' })).toBe(
      '1 Jan 2026, 00:00 – 2 Jan 2026, 05:00 UTC',
    );
    expect(spanText({ start: JANUARY.start, end: JANUARY.start })).toBe('1 Jan 2026');
  });

  test('instants of one day name it once, and their zone once unless the clock is changed between them', () => {
    const times = (start: string, end: string) => ({
      start: `2026-10-25T${start}:00.000Z`,
      end: `2026-10-25T${end}:00.000Z`,
    });
    expect(spanText(times('09:20', '14:20'))).toBe('25 Oct 2026, 09:20 – 14:20 UTC');
    expect(spanText(times('09:20', '14:20'), 'Asia/Kolkata')).toBe(
      '25 Oct 2026, 14:50 – 19:50 GMT+5:30',
    );
    expect(spanText(times('00:30', '01:30'), 'Europe/Berlin')).toBe(
      '25 Oct 2026, 02:30 CEST – 02:30 CET',
    );
    expect(spanText(times('22:30', '23:30'), 'Europe/Berlin')).toBe(
      '25 Oct 2026, 23:30 – 26 Oct 2026, 00:30 CET',
    );
  });

  test.each`
    part           | whole            | text
    ${864_000_000} | ${2_592_000_000} | ${'10 / 30 days'}
    ${43_200_000}  | ${2_592_000_000} | ${'12 / 720 hours'}
    ${60_000}      | ${3_600_000}     | ${'1 / 60 minutes'}
    ${1_000}       | ${3_600_000}     | ${'1 / 3,600 seconds'}
    ${1}           | ${1_000}         | ${'1 / 1,000 ms'}
    ${0}           | ${86_400_000}    | ${'0 / 1 days'}
    ${86_400_000}  | ${2_674_800_000} | ${'24 / 743 hours'}
  `('$part of $whole ms: $text', ({ part, whole, text }) => {
    expect(shareText(part, whole)).toBe(text);
  });
});

describe('dates in the zone of the customer', () => {
  test.each`
    instant                       | zone                  | short
    ${'2025-12-31T23:00:00.000Z'} | ${'Europe/Berlin'}    | ${'1 Jan 2026'}
    ${'2026-01-01T00:00:00.000Z'} | ${'Europe/Berlin'}    | ${'1 Jan 2026, 01:00 CET'}
    ${'2026-10-25T00:30:00.000Z'} | ${'Europe/Berlin'}    | ${'25 Oct 2026, 02:30 CEST'}
    ${'2026-10-25T01:30:00.000Z'} | ${'Europe/Berlin'}    | ${'25 Oct 2026, 02:30 CET'}
    ${'2026-01-01T05:00:00.000Z'} | ${'America/New_York'} | ${'1 Jan 2026'}
    ${'2026-01-01T00:00:15.250Z'} | ${'America/New_York'} | ${'31 Dec 2025, 19:00:15.250 GMT-5'}
    ${'2026-01-01T00:00:00.000Z'} | ${'Asia/Kolkata'}     | ${'1 Jan 2026, 05:30 GMT+5:30'}
  `('$instant in $zone: $short', ({ instant, zone, short }) => {
    expect(shortInstant(instant, zone)).toBe(short);
  });

  test('the heading names the zone, and periods are those that the customer has', () => {
    const berlin = {
      ...explanation(),
      period: { start: '2025-12-31T23:00:00.000Z', end: '2026-01-31T23:00:00.000Z' },
    };
    expect(explainText(berlin, { timezone: 'Europe/Berlin' })).toBe(
      'base: USD 5.00 for 1 unit, 1 Jan 2026 – 31 Jan 2026 (Europe/Berlin)\n',
    );
  });
});

describe('how overage and true-up came about', () => {
  const of = (fields: object): ExplanationStep => ({
    step: 'commitment',
    rule: 'billing 6.1',
    type: 'amount',
    promised: '232.26',
    quantity_rating: null,
    overage_factor: '1.5',
    true_up_enabled: true,
    share: null,
    windows: null,
    omitted: null,
    usage: '450.05',
    commitment: '232.26',
    utilized: '232.26',
    overage: '326.685',
    true_up: '0',
    amount: '558.945',
    ...fields,
  });
  const term = (fields: object): ExplanationStep => ({
    step: 'term_commitment',
    rule: 'billing 6.4',
    term: span('2026-01-01', '2026-04-01'),
    prior_usage: '200',
    overage_factor: '2',
    true_up_enabled: true,
    last_period_of_term: false,
    usage: '450.05',
    commitment: '300',
    utilized: '100',
    overage: '700.1',
    true_up: '0',
    amount: '800.1',
    ...fields,
  });
  test.each<[string, ExplanationStep, string | undefined]>([
    ['usage above', of({}), 'overage = (450.05 − 232.26) × 1.5 = 326.685'],
    [
      'usage below',
      of({ usage: '100', utilized: '100', overage: '0', true_up: '132.26', amount: '232.26' }),
      'true-up = 232.26 − 100.00 = 132.26',
    ],
    ['usage equal', of({ usage: '232.26', overage: '0' }), undefined],
    ['figures of another relation', of({ overage: '1' }), undefined],
    ['a term, partly used before', term({}), 'overage = (450.05 − (300.00 − 200.00)) × 2 = 700.10'],
    [
      'a term that is used up',
      term({ prior_usage: '300', utilized: '0', overage: '900.1' }),
      'overage = 450.05 × 2 = 900.10',
    ],
    [
      'the end of a term',
      term({ usage: '40', utilized: '40', overage: '0', true_up: '60', last_period_of_term: true }),
      'true-up = (300.00 − 200.00) − 40.00 = 60.00',
    ],
  ])('%s', (_name, step, formula) => {
    const lines = bodyOf(step);
    expect(lines.find((line) => line.includes(' − ') || line.includes('overage ='))?.trim()).toBe(
      formula,
    );
  });
});

describe('an explanation as text (the page docs/explanations.md shows one for each rule)', () => {
  test('a heading, then numbered steps with their rules, and a last line break', () => {
    const trial: ExplanationStep = {
      step: 'trial',
      rule: 'billing 10.4',
      trial: span('2026-01-01', '2026-01-15'),
      amount: '0',
    };
    expect(explainText(explanation(trial, trial))).toBe(
      [
        'base: USD 5.00 for 1 unit, 1 Jan 2026 – 31 Jan 2026',
        '',
        '1. Trial 1 Jan 2026 – 14 Jan 2026 (billing 10.4)',
        '   free = 0.00',
        '',
        '2. Trial 1 Jan 2026 – 14 Jan 2026 (billing 10.4)',
        '   free = 0.00',
        '',
      ].join('\n'),
    );
  });

  test('of long lists the rest is one row', () => {
    const cells = windowsWithin(
      { bucket_size: 'HOUR', timezone: 'UTC', billing_anchor: null },
      JANUARY,
    );
    const rows = cells.slice(0, 120).map(({ window_start }) => ({
      group: [],
      window_start,
      quantity: '6',
      event_count: 1,
    }));
    for (const [price, more] of [
      [slab('5 1', '- 2'), '20 more 120 140.00'],
      [pack('3', 4), '20 more 120 120.00'],
      [flat('0.5'), '20 more 120 60.00'],
    ] as const) {
      const text = explainText(usageLine({ price, bucket_size: 'HOUR', rows }).explanation);
      expect(text.replace(/ +/g, ' ')).toContain(`
 ${more}
`);
      expect(text).toMatch(/\n {3}total /);
    }
  });

  test('stored words and currencies are written for people', () => {
    for (const { explanations } of examples())
      for (const explanation of explanations) {
        const text = explainText(explanation).replace(
          /\d+ [A-Z][a-z]+ \d{4}|coupon \S+|\.\d+/g,
          '',
        );
        expect(text).not.toMatch(/\busd\b|[A-Z]{4}|\d{4}/);
      }
  });

  test('an allowance shows what it leaves out, and unlimited', () => {
    const window = {
      ...span('2026-01-01', '2026-01-02'),
      at: at('2026-01-01'),
      limit: null,
      used_before: '0',
      usage: '5',
      free: '5',
      billable: '0',
    };
    const step: ExplanationStep = {
      step: 'allowance',
      rule: 'billing 4',
      usage_reset_period: 'DAILY',
      windows: [window],
      omitted: { count: 29, free: '100', billable: '12.5' },
      free: '105',
      billable: '12.5',
    };
    expect(bodyOf(step)).toEqual([
      '1. Allowance, resets daily (billing 4)',
      '   reset window  limit      used before  usage  free  billable',
      '   1 Jan 2026    unlimited            0      5     5       0',
      '   29 more                                       100      12.5',
      '   total                                         105      12.5',
    ]);
  });

  test('an allowance of a part of a period shows the whole limit and the part', () => {
    const day = 86_400_000;
    const step = (own: string, limit: string): ExplanationStep => ({
      step: 'allowance',
      rule: 'billing 4',
      usage_reset_period: 'MONTHLY',
      proration: { whole: '20000', own, part_ms: 24 * day, whole_ms: 31 * day, limit },
      windows: [],
      omitted: null,
      free: '0',
      billable: '0',
    });
    expect(bodyOf(step('0', '15484'))[1]).toBe(
      '   limit: 20,000 × 24 / 31 days in whole units = 15,484',
    );
    expect(bodyOf(step('500', '15984'))[1]).toBe(
      '   limit: 20,000 × 24 / 31 days in whole units, and 500 of the subscription = 15,984',
    );
  });

  test('a commitment shows its share of the period, and of windows', () => {
    const outcome = {
      usage: '1',
      commitment: '5',
      utilized: '1',
      overage: '0',
      true_up: '4',
      amount: '5',
    };
    const share = { part_ms: 43_200_000, whole_ms: 86_400_000 };
    const step: ExplanationStep = {
      step: 'commitment',
      rule: 'billing 6.2',
      type: 'amount',
      promised: '10',
      quantity_rating: null,
      overage_factor: '1.5',
      true_up_enabled: true,
      share,
      windows: [
        { start: at('2026-01-01'), share, ...outcome },
        { start: at('2026-01-02'), share: null, ...outcome },
      ],
      omitted: { count: 3, ...outcome },
      ...outcome,
    };
    expect(bodyOf(step)).toEqual([
      '1. Commitment of 10.00, factor 1.5, true-up on (billing 6.2)',
      '   10.00 × 12 / 24 hours',
      '                               usage  commitment  utilized  overage  true-up  = amount',
      '   1 Jan 2026 × 12 / 24 hours   1.00        5.00      1.00     0.00     4.00      5.00',
      '   2 Jan 2026                   1.00        5.00      1.00     0.00     4.00      5.00',
      '   3 more                       1.00        5.00      1.00     0.00     4.00      5.00',
      '   total                        1.00        5.00      1.00     0.00     4.00      5.00',
      '   1 Jan 2026: true-up = 5.00 − 1.00 = 4.00',
      '   2 Jan 2026: true-up = 5.00 − 1.00 = 4.00',
    ]);
  });

  test('what the invoice did with the row comes last', () => {
    const settled: Explanation = {
      ...explanation(),
      settlement: [
        {
          step: 'discount',
          rule: 'billing 7.3',
          level: 'line_item',
          coupon_id: 'coupon_1',
          coupon_association_id: null,
          discount_type: 'percentage',
          percentage_off: '10',
          amount_off: null,
          base: '5',
          subtotal_left: '5',
          discount: '0.5',
          before: '5',
          amount: '0.5',
          after: '4.5',
        },
        {
          step: 'prepaid_credit',
          rule: 'billing 9.2',
          wallet_id: 'wallet_1',
          wallet_left: '4',
          invoice_left: '4.5',
          before: '4.5',
          amount: '4',
          after: '0.5',
        },
        {
          step: 'tax',
          rule: 'billing 8.2',
          tax_rate_id: 'taxrate_1',
          tax_behavior: 'exclusive',
          percentage_value: '20',
          line_base: '4.5',
          invoice_base: '9',
          taxable_amount: '9',
          tax_amount: '1.8',
        },
      ],
    };
    const names = new Map([
      ['coupon_1', 'Spring'],
      ['taxrate_1', 'VAT'],
    ]);
    expect(explainText(settled, { names }).split('\n').slice(1)).toEqual([
      '',
      'On the invoice',
      '                                              of  amount  leaves  rule',
      '   coupon Spring, 10% off                   5.00    0.50    4.50  billing 7.3',
      '   wallet wallet_1                          4.50    4.00    0.50  billing 9.2',
      '   20% exclusive tax VAT, 1.80 on all rows  4.50    0.90    1.40  billing 8.2',
      '   net payable                                              1.40',
      '',
    ]);
    const [part] = explainedSteps(settled, { names }).at(-1)!.body;
    const cells = typeof part === 'object' && 'rows' in part ? part.rows.flat() : [];
    const named = cells.filter((cell) => typeof cell !== 'string');
    expect(named.map(({ kind, id, name }) => [kind, id, name])).toEqual([
      ['coupon', 'coupon_1', 'Spring'],
      ['wallet', 'wallet_1', 'wallet_1'],
      ['tax_rate', 'taxrate_1', 'VAT'],
    ]);
  });

  test('a row without a settlement shows none', () => {
    expect(explainText(explanation())).not.toContain('On the invoice');
    expect(explainText({ ...explanation(), settlement: [] })).not.toContain('On the invoice');
  });
});
