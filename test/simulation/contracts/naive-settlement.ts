import { Decimal } from '../../../domain/money.ts';
import {
  FACTOR,
  type Bill,
  type BilledRow,
  type Block,
  type Contract,
  type Draft,
  type LineOff,
  type Reason,
  type Row,
} from './contract.ts';
import type { Time } from './naive-calendar.ts';
import { livedPeriods, overlap, type Lived } from './naive-life.ts';
import { positive, total } from './naive-rating.ts';

/** Credits may pay usage of a period that ended before their expiry for so long after it. */
const HELD_MS = 72 * 3_600_000;

const BEGINNINGS: readonly Reason[] = [
  'SUBSCRIPTION_CREATE', 'SUBSCRIPTION_TRIAL_END', 'SUBSCRIPTION_UPDATE',
]; // prettier-ignore

/** A block with what is left of it. */
interface Left extends Block {
  left: Decimal;
}

export interface Settlement {
  readonly bills: readonly Bill[];
  /** In the wallet at the end, with what has expired. */
  readonly left: string;
}

/** What each invoice says: its discount and its taxes, and how the prepaid wallet pays it. */
export function settle(
  contract: Contract,
  periods: readonly Lived[],
  drafts: readonly Draft[],
  /** What comes into the wallet; it may depend on what was billed. */
  credited: (bills: readonly Bill[]) => readonly Block[],
): Settlement {
  const bills = drafts.map(billing(contract, periods));
  return paidFrom(contract, bills, credited(bills));
}

/** How the prepaid wallet of a contract pays the bills. */
export function paidFrom(
  contract: Contract,
  bills: readonly Bill[],
  credited: readonly Block[],
): Settlement {
  const paidAhead = {
    at: -Infinity,
    amount: String(contract.credits),
    priority: null,
    expiry: null,
  };
  const blocks = [...(contract.credits > 0 ? [paidAhead] : []), ...credited].map((block): Left => ({
    ...block,
    left: new Decimal(block.amount),
  }));
  // A wallet that the first credits make pays usage only.
  const isForUsage = contract.credits === 0;
  const paid = new Map(
    [...bills]
      .sort((left, right) => left.issued - right.issued)
      .map((one): [Bill, Decimal] => [one, pay(contract, one, blocks, isForUsage)]),
  );
  return {
    bills: bills.map((one) => {
      const credits = paid.get(one)!;
      return {
        ...one,
        credits: credits.toFixed(),
        total: new Decimal(one.total).minus(credits).toFixed(),
      };
    }),
    left: total(blocks.map(({ left }) => left)).toFixed(),
  };
}

/** What a draft charges, without the credits that pay it. */
export function billing(contract: Contract, periods: readonly Lived[]): (draft: Draft) => Bill {
  const time = couponTime(contract, periods);
  return (draft) => bill(contract, draft, time);
}

const minor = ({ currency }: Contract): number => (currency === 'jpy' ? 0 : 2);

const round = (contract: Contract, value: Decimal): Decimal =>
  value.toDecimalPlaces(minor(contract), Decimal.ROUND_HALF_UP);

/** An amount in the currency of the invoices: that of a custom currency is converted. */
function inMoney(contract: Contract, amount: string): string {
  if (contract.currency !== 'crx') return amount;
  return round(contract, new Decimal(amount).times(FACTOR)).toFixed();
}

/** When the coupon of the contract or of one of its phases discounts (billing 7.2, 11). */
function couponTime(contract: Contract, lived: readonly Lived[]): Time {
  const [phase, time] = [contract.off?.phase, { start: -Infinity, end: Infinity }];
  if (phase === undefined) return { ...time, end: couponEnd(contract, lived) };
  return phase === 'first'
    ? { ...time, end: contract.phase! }
    : { ...time, start: contract.phase! };
}

/** When the coupon of the contract ends. Periods that are paused from their start to their end do not count. */
function couponEnd(contract: Contract, lived: readonly Lived[]): number {
  const { off, pauses, moves } = contract;
  if (off === null || off.periods === null) return Infinity;
  // A new anchor does not move it.
  const periods = moves.length === 0 ? lived : livedPeriods({ ...contract, moves: [] });
  const counted = periods.filter((period) => overlap(period, pauses) < period.end - period.start);
  return counted[off.periods - 1]?.end ?? Infinity;
}

const amountsOf = (rows: readonly Row[]) => rows.map(({ amount }) => new Decimal(amount));
const amounts = (rows: readonly Row[]) => total(amountsOf(rows));

/** An amount shared by rows: each its part, cut to the minor unit; what is left goes to the greatest rests. */
export function allocated(
  contract: Contract,
  shared: Decimal,
  values: readonly Decimal[],
  eligible: readonly boolean[] = values.map(() => true),
): Decimal[] {
  const all = total(values.filter((_, index) => eligible[index]));
  if (all.isZero()) return values.map(() => new Decimal(0));
  const exact = values.map((value, index) =>
    eligible[index] ? shared.times(value).div(all) : new Decimal(0),
  );
  const parts = exact.map((part) => part.toDecimalPlaces(minor(contract), Decimal.ROUND_DOWN));
  const unit = new Decimal(10).pow(-minor(contract));
  const order = exact
    .map((part, index) => ({ index, rest: part.minus(parts[index]!) }))
    .sort((left, right) => right.rest.comparedTo(left.rest) || left.index - right.index);
  const missing = shared.minus(total(parts)).div(unit).toNumber();
  for (const { index } of order.slice(0, missing)) parts[index] = parts[index]!.plus(unit);
  return parts;
}

/** Without the credits. What is off a line comes first (billing 7.3). */
function bill(contract: Contract, draft: Draft, time: Time): Bill {
  const { off, lineOff } = contract;
  const parts = draft.rows.flatMap((row, index) =>
    (row.shares ?? [row.amount]).map((share) => ({
      ...{ row, index, isCharge: row.kind !== 'credit' },
      amount: new Decimal(inMoney(contract, share)),
    })),
  );
  const sums = (values: readonly Decimal[]) =>
    draft.rows.map((_, row) => total(values.filter((_, part) => parts[part]!.index === row)));
  const values = parts.map(({ amount }) => amount);
  const rows = sums(values).map((amount, index) => ({
    ...draft.rows[index]!,
    amount: amount.toFixed(),
  }));
  const ofLine = parts.map(({ row, isCharge }) => isCharge && isOffLine(lineOff, row));
  const left = less(contract, values, ofLine, lineOff ?? { percent: 0 });
  const eligible = parts.map(
    ({ row, isCharge }) => row.start < time.end && row.end > time.start && isCharge,
  );
  const nets = sums(less(contract, left, eligible, off ?? { percent: 0 }));
  const discounted = rows.map((row, index) => {
    const [amount, net] = [new Decimal(draft.rows[index]!.amount), nets[index]!];
    const gone = new Decimal(row.amount).minus(net);
    const own = {
      amount,
      net: amount.minus(contract.currency === 'crx' ? gone.div(FACTOR) : gone),
    };
    return { ...row, net, own };
  });
  return taxed(contract, { ...draft, rows: discounted });
}

/** Whether the coupon of a line discounts a row: one of the line, in any part in which the coupon is attached. */
function isOffLine(off: LineOff | null, { name, start, end }: Row): boolean {
  if (off === null || name !== off.line) return false;
  return off.away === undefined || start < off.away.start || end > off.away.end;
}

/** What a discount, rounded once, leaves of each of the values. */
function less(
  contract: Contract,
  values: readonly Decimal[],
  eligible: readonly boolean[],
  { percent, amount }: Pick<LineOff, 'percent' | 'amount'>,
): Decimal[] {
  const sum = total(values.filter((_, index) => eligible[index]));
  const off =
    amount === undefined ? sum.times(percent).div(100) : new Decimal(inMoney(contract, amount));
  const discount = Decimal.min(round(contract, off), sum);
  const shares = allocated(contract, discount, values, eligible);
  return values.map((value, index) => value.minus(shares[index]!));
}

/** What an invoice of discounted rows says with the taxes of the contract. */
export function taxed(
  contract: Contract,
  draft: Omit<Draft, 'rows'> & { readonly rows: readonly Omit<BilledRow, 'tax'>[] },
): Bill {
  const { taxes } = contract;
  const { rows } = draft;
  const subtotal = amounts(rows);
  const base = total(rows.map(({ net }) => net));
  const inclusive = taxes.filter((tax) => tax.inclusive);
  const rates = total(inclusive.map(({ percent }) => new Decimal(percent)));
  const within = total(
    inclusive.map(({ percent }) => round(contract, base.times(percent).div(rates.plus(100)))),
  );
  const beside = total(
    taxes
      .filter((tax) => !tax.inclusive)
      .map(({ percent }) => round(contract, base.minus(within).times(percent).div(100))),
  );
  // An invoice without value is skipped: nothing is computed for it.
  const isSkipped = rows.every(({ amount }) => new Decimal(amount).isZero());
  return {
    ...draft,
    rows: rows.map((row) => ({
      ...row,
      tax: base.isZero() ? base : beside.times(row.net).div(base),
    })),
    subtotal: subtotal.toFixed(),
    discount: subtotal.minus(base).toFixed(),
    credits: '0',
    tax: isSkipped ? '0' : within.plus(beside).toFixed(),
    total: base.plus(beside).toFixed(),
  };
}

/** Takes from the blocks what pays the invoice when it is issued: all rows, or those of usage. */
function pay(contract: Contract, bill: Bill, blocks: Left[], isForUsage: boolean): Decimal {
  const { issued, period, rows } = bill;
  const payable = total(
    rows.filter(({ name }) => !isForUsage || !name.startsWith('fee')).map(({ net }) => net),
  );
  const usable = blocks
    // Credits that come with the paid time, or with a resumption, come after the invoice that begins it.
    .filter(({ at }) => (BEGINNINGS.includes(bill.reason) ? at < issued : at <= issued))
    .filter(
      ({ expiry }) =>
        expiry === null ||
        expiry > issued ||
        (period.end <= expiry && bill.reason === 'SUBSCRIPTION_CYCLE' && issued - expiry < HELD_MS),
    )
    .sort(byUse);
  const pool = total(usable.map(({ left }) => left)).toDecimalPlaces(
    minor(contract),
    Decimal.ROUND_DOWN,
  );
  const paid = positive(Decimal.min(pool, payable));
  let open = paid;
  for (const block of usable) {
    const taken = Decimal.min(block.left, open);
    block.left = block.left.minus(taken);
    open = open.minus(taken);
  }
  return paid;
}

function byUse(left: Left, right: Left): number {
  const [first, second] = [left, right].map((block) => [
    block.priority ?? Infinity,
    block.expiry ?? Infinity,
    block.at,
  ]) as [number[], number[]];
  const differing = first.findIndex((value, index) => value !== second[index]);
  return differing < 0 ? 0 : first[differing]! - second[differing]!;
}
