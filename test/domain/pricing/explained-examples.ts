import { shareAllowance } from '../../../domain/pricing/allowance.ts';
import { buildInvoice } from '../../support/build-invoice.ts';
import { Decimal, decimalText } from '../../../domain/money.ts';
import type { CommitmentFields } from '../../../domain/pricing/commitment.ts';
import { convertLine } from '../../../domain/pricing/custom-currency.ts';
import { changeRows } from '../../../domain/pricing/line-change.ts';
import { groupLines } from '../../../domain/pricing/line-grouping.ts';
import { convertPriceUnit } from '../../../domain/pricing/price-unit.ts';
import type { RatedLine } from '../../../domain/pricing/rated-line.ts';
import { commitSubscription } from '../../../domain/pricing/subscription-commitment.ts';
import type { Period } from '../../../domain/time/instant.ts';
import { windowsWithin } from '../../../domain/time/usage-windows.ts';
import type { Explanation } from '../../../schemas/explanation.ts';
import {
  APRIL,
  at,
  cellOf,
  fixed,
  fixedLine,
  flat,
  JANUARY,
  pack,
  slab,
  span,
  tiered,
  usageLine,
  usageLines,
  whole,
  windows,
} from './lines.ts';

/** One example for each rule of rating; `docs/explanations.md` is made of them. */
export interface Example {
  readonly title: string;
  readonly words: string;
  readonly explanations: readonly Explanation[];
}

const example = (title: string, words: string, ...lines: readonly RatedLine[]): Example => ({
  title,
  words,
  explanations: lines.map((line) => line.explanation),
});

const LADDER = ['1000 0.10', '5000 0.08 5', '- 0.05 20'];
const claim = (usage: string, limit: string | null, start = JANUARY.start, line_id = 'line') => ({
  line_id,
  at: start,
  usage: new Decimal(usage),
  limit: limit === null ? null : new Decimal(limit),
});
const granted = (
  reset: string,
  limit: string,
  ...entries: { window: Period; usage: string; before?: string }[]
) =>
  shareAllowance(
    reset,
    entries.map(({ window, usage, before = '0' }) => ({
      ...window,
      usedBefore: new Decimal(before),
      claims: [claim(usage, limit, window.start)],
    })),
  ).get('line')!;
const days = (service: Period) =>
  windowsWithin({ bucket_size: 'DAY', timezone: 'UTC', billing_anchor: null }, service).map(
    (cell) => ({
      grid: { start: cell.window_start, end: cell.window_end },
      service: { start: cell.start, end: cell.end },
    }),
  );
const term = (
  usage: string,
  priorUsage: string,
  lastPeriod: boolean,
  period: Period,
): readonly RatedLine[] =>
  usageLines({
    price: flat('1'),
    rows: whole(usage, 12),
    cell: cellOf(period),
    line: {
      commitment_amount: '12000',
      commitment_overage_factor: '1.2',
      commitment_duration: 'ANNUAL',
      commitment_true_up_enabled: true,
    },
    commitment: {
      scope: 'term',
      position: {
        term: span('2026-01-01', '2027-01-01'),
        commitment: new Decimal(12000),
        priorUsage: new Decimal(priorUsage),
        lastPeriod,
      },
    },
  });
const committed = (usage: string, fields: CommitmentFields, price = flat('1')) =>
  usageLine({ price, rows: whole(usage, 40), line: fields });

function stub(proration_behavior: 'create_prorations' | 'none'): RatedLine {
  const service = span('2026-04-21', '2026-05-01');
  return fixedLine({
    price: fixed('30'),
    cell: { reference: APRIL, cell: service, service },
    proration_behavior,
  });
}

function seats(
  before: string,
  after: string,
  billed: string,
  gross = billed,
): readonly RatedLine[] {
  return changeRows({
    before: { price: fixed('20'), quantity: before },
    after: after === '0' ? null : { price: fixed('20'), quantity: after },
    invoice_cadence: 'ADVANCE',
    effective_at: at('2026-04-13'),
    proration_behavior: 'create_prorations',
    cells: [
      {
        reference: APRIL,
        service: APRIL,
        billed: {
          gross: new Decimal(gross),
          billed: new Decimal(billed),
          credited: new Decimal(0),
        },
      },
    ],
  });
}

/** The worked example of 9.3: both rows of an invoice with two coupons, a tax and prepaid credits. */
function onInvoice(): readonly Explanation[] {
  const rated = [
    { line: usageLine({ price: flat('0.04'), rows: whole('2000', 120) }), price_type: 'USAGE' },
    { line: fixedLine({ price: fixed('20') }), price_type: 'FIXED' },
  ] as const;
  const coupon = {
    coupon_association_id: null,
    subscription_id: null,
    start_date: null,
    end_date: null,
  };
  const built = buildInvoice({
    currency: 'usd',
    invoice_status: 'FINALIZED',
    lines: rated.map(({ line, price_type }, index) => ({
      id: String(index),
      kind: line.kind,
      subscription_id: 'subs_1',
      subscription_line_item_id: `item_${index}`,
      price_type,
      amount: decimalText(line.amount),
      period_start: line.period.start,
      period_end: line.period.end,
      explanation: line.explanation,
    })),
    coupons: [
      {
        ...coupon,
        coupon_id: 'QUARTER',
        type: 'percentage',
        percentage_off: '25',
        amount_off: null,
        subscription_line_item_id: 'item_0',
      },
      {
        ...coupon,
        coupon_id: 'TEN',
        type: 'fixed',
        percentage_off: null,
        amount_off: '10',
        subscription_line_item_id: null,
      },
    ],
    taxes: {
      exemption: null,
      rates: [
        {
          tax_rate_id: 'VAT',
          tax_association_id: null,
          percentage_value: '8.25',
          tax_behavior: 'exclusive',
          priority: 0,
        },
      ],
    },
    wallets: [
      {
        id: 'wallet_1',
        credits_available: '5',
        conversion_rate: '1',
        allowed_price_types: ['USAGE'],
      },
    ],
  });
  return built.lines.map((line) => line.explanation!);
}

function inTokens(): RatedLine {
  const currency = { code: 'tok', symbol: 'T' };
  const line = usageLine({ price: flat('0.101', { currency: 'tok' }), rows: whole('3'), currency });
  return convertLine(line, currency, '0.755', 'usd').line;
}

function pooled(): readonly RatedLine[] {
  const lines = ['90', '60'].map((usage) => usageLine({ price: flat('1'), rows: whole(usage, 7) }));
  const terms = {
    amount: new Decimal(100),
    overageFactor: new Decimal('1.5'),
    trueUpEnabled: false,
  };
  const found = commitSubscription(lines, terms, { scope: 'period', share: null }, JANUARY, 'usd');
  return found.rows.flatMap(({ within, overage }) => [within, overage!]);
}

export const examples = (): readonly Example[] => [
  example(
    'Flat fee (2.2)',
    'Every unit costs the same. The charge is rounded once, where it becomes a line.',
    usageLine({ price: flat('0.003333'), rows: whole('1000', 250) }),
  ),
  example(
    'Package, rounded up (2.2)',
    'A package begun is a package charged.',
    usageLine({ price: pack('5', 100), rows: whole('100.5', 31) }),
  ),
  example(
    'Package, rounded down (2.2)',
    'Only whole packages are charged.',
    usageLine({ price: pack('5', 100, 'down'), rows: whole('250', 31) }),
  ),
  example(
    'Tiers, VOLUME (2.2)',
    'All units at the rate of the one tier that holds the quantity, with its flat amount. The bound of a tier belongs to it.',
    usageLine({ price: tiered('VOLUME', LADDER), rows: whole('5001', 90) }),
  ),
  example(
    'Tiers, SLAB (2.2)',
    'Each unit at the rate of the tier it falls in; a tier that took a unit owes its flat amount.',
    usageLine({ price: slab(...LADDER), rows: whole('5001', 90) }),
  ),
  example(
    'Nothing used, or less than nothing (2.2)',
    'Costs nothing, flat amounts included. The row stays, so that the meter is seen.',
    usageLine({ price: slab(...LADDER), rows: whole('-12', 3) }),
  ),
  example(
    'Quantity of a fixed price (2.3)',
    'Seats are rated like usage: tiers and packages apply.',
    fixedLine({
      price: tiered('SLAB', ['10 1', '- 0.5 3'], { type: 'FIXED', min_quantity: '5' }),
      quantity: '12',
    }),
  ),
  example(
    'Windows (2.4)',
    'Each window is priced alone, and the sum is rounded once.',
    usageLine({
      price: slab('10 1', '- 2'),
      aggregation: 'MAX',
      bucket_size: 'HOUR',
      rows: windows('2026-01-01T00:00 3', '2026-01-01T01:00 12', '2026-01-01T03:00 7'),
    }),
  ),
  example(
    'Groups in windows (2.4)',
    'Under MAX with a group each group of a window is priced alone.',
    usageLine({
      price: pack('1', 5),
      aggregation: 'MAX',
      bucket_size: 'HOUR',
      rows: windows('2026-01-01T00:00 3 a', '2026-01-01T00:00 12 b'),
    }),
  ),
  example(
    'Allowance of the charge period (4)',
    'Free units come off first; tiers begin at the first billable unit.',
    usageLine({
      price: slab('1000 0.02', '- 0.01'),
      rows: whole('1500', 60),
      allowance: granted('MONTHLY', '100', { window: JANUARY, usage: '1500' }),
    }),
  ),
  example(
    'Allowance that resets each day (4)',
    'What a day leaves unused is gone; what is billable of all days is rated together.',
    usageLine({
      price: flat('0.5'),
      rows: whole('560', 60),
      allowance: granted(
        'DAILY',
        '100',
        ...['80', '150', '100', '230'].map((usage, index) => ({
          window: span(`2026-01-0${index + 1}`, `2026-01-0${index + 2}`),
          usage,
        })),
      ),
    }),
  ),
  example(
    'Allowance that never resets (4)',
    'Each period bills what it adds to the usage beyond the limit.',
    usageLine({
      price: flat('1'),
      rows: whole('700', 60),
      cell: cellOf(span('2026-02-01', '2026-03-01')),
      allowance: granted('NEVER', '1000', {
        window: span('2026-01-01', '2026-03-01'),
        usage: '700',
        before: '600',
      }),
    }),
  ),
  example(
    'Quotas for windows of time (money 7.10)',
    'The first usage opens a window of five hours; only what is beyond the quota of a window is billed.',
    usageLine({
      price: flat('0.5'),
      rows: whole('300', 12),
      quota: {
        windows: [
          {
            ...{ start: at('2026-01-05T09:20'), end: at('2026-01-05T14:20') },
            ...{ entitlement_id: 'ent_1', quota: new Decimal(100), used: new Decimal(180) },
            exhausted_at: at('2026-01-05T11:45'),
          },
          {
            ...{ start: at('2026-01-08T00:00'), end: at('2026-01-08T05:00') },
            ...{ entitlement_id: 'ent_1', quota: new Decimal(100), used: new Decimal(120) },
            exhausted_at: at('2026-01-08T04:10'),
          },
        ],
        billed: new Map([[null, new Decimal(100)]]),
        outside: new Decimal(0),
      },
    }),
  ),
  example(
    'Allowance under windows (4)',
    'Consumed along the windows; what is left of each is priced alone.',
    usageLine({
      price: slab('10 1', '- 2'),
      bucket_size: 'DAY',
      rows: windows('2026-01-01 40', '2026-01-02 70', '2026-01-03 50'),
      allowance: shareAllowance('MONTHLY', [
        {
          ...JANUARY,
          usedBefore: new Decimal(0),
          claims: ['40', '70', '50'].map((usage, index) =>
            claim(usage, '100', at(`2026-01-0${index + 1}`)),
          ),
        },
      ]).get('line')!,
    }),
  ),
  example(
    'Commitment with overage (6.1)',
    'Usage beyond the promise costs the factor.',
    committed('1400', {
      commitment_amount: '1000',
      commitment_overage_factor: '1.5',
      commitment_true_up_enabled: true,
    }),
  ),
  example(
    'Commitment with true-up (6.1)',
    'What was promised and not used is charged. The parts still sum to the charge after rounding.',
    committed(
      '8500.5',
      { commitment_amount: '10000', commitment_true_up_enabled: true },
      flat('1', { currency: 'jpy' }),
    ),
  ),
  example(
    'Commitment of a quantity (6.1)',
    'The promise is worth its price, and overage is priced at the tiers that it reaches.',
    committed(
      '15',
      { commitment_quantity: '10', commitment_overage_factor: '1.5' },
      slab('10 1', '- 2'),
    ),
  ),
  example(
    'Commitment for each window (6.2)',
    'Windows without usage are held to it as well.',
    usageLine({
      price: flat('1'),
      bucket_size: 'DAY',
      rows: windows('2026-01-01 3', '2026-01-03 9'),
      cell: cellOf(JANUARY, span('2026-01-01', '2026-01-04')),
      line: {
        commitment_amount: '5',
        commitment_windowed: true,
        commitment_true_up_enabled: true,
      },
      commitment: { scope: 'windows', windows: days(span('2026-01-01', '2026-01-04')) },
    }),
  ),
  example(
    'Commitment of a subscription (6.3)',
    'Usage rows are held to it together, and share by their own charges what is within it and what is beyond. What is beyond is a row of its own.',
    ...pooled(),
  ),
  example(
    'Commitment for a term (6.4)',
    'What earlier periods used of it counts; usage beyond it is a row of its own.',
    ...term('1500', '10800', false, span('2026-11-01', '2026-12-01')),
  ),
  example(
    'True-up of a term (6.4)',
    'On the last period of the term only.',
    ...term('700', '7700', true, span('2026-12-01', '2027-01-01')),
  ),
  example(
    'A stub with create_prorations (5.1, 5.2)',
    'A ratio of instants, multiplied with the whole rated amount.',
    stub('create_prorations'),
  ),
  example('A stub with none (5.2)', 'The full amount for a part of the period.', stub('none')),
  example(
    'A version that served a part of the period (5.2)',
    'Each version charges its own slice under every proration behaviour. Otherwise the period would be charged twice.',
    fixedLine({
      price: fixed('60'),
      cell: cellOf(APRIL, span('2026-04-11', '2026-04-21')),
      proration_behavior: 'none',
    }),
  ),
  example(
    'More seats in mid-period (5.3)',
    'A credit for what is left of the old quantity and a charge for the new one, each rounded by itself.',
    ...seats('10', '14', '200'),
  ),
  example(
    'Removed in mid-period under a coupon (5.3)',
    'Nobody gets back what a coupon paid: the credit is net of the discounts of its window.',
    ...seats('5', '0', '50', '100'),
  ),
  {
    title: 'A pricing unit (2.6)',
    words:
      'A price of 0.333 units at a rate of 0.01 is 0.00333; it is the line that is rounded, not the price.',
    explanations: [
      usageLine({
        price: flat(
          convertPriceUnit({ price_unit: 'tok', amount: '0.333' }, new Decimal('0.01')).amount!,
        ),
        rows: whole('3', 3),
      }).explanation,
    ],
  },
  example(
    'A custom currency (2.6)',
    'Computed and rounded in the custom currency, then converted and rounded once, row by row.',
    inTokens(),
  ),
  example(
    'Several charge periods on one row (3.3)',
    'With per_billing_period the rounded cells are added, so that the total is that of per_charge_period.',
    ...groupLines(
      [
        span('2026-01-01', '2026-02-01'),
        span('2026-02-01', '2026-03-01'),
        span('2026-03-01', '2026-04-01'),
      ].map((month) => fixedLine({ price: fixed('33.335'), cell: cellOf(month) })),
      'per_billing_period',
    ),
  ),
  {
    title: 'Coupons, credits and taxes of the invoice (7.3, 9.2, 8.2)',
    words:
      'What the invoice did with its rows after they were rated: a coupon of one row, one of the invoice, which is shared by what the rows have left, prepaid credits on usage, and a tax on all rows together.',
    explanations: onInvoice(),
  },
];
