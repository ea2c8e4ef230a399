import { Decimal } from '../../../domain/money.ts';
import {
  PRICE_UNITS,
  type Addon,
  type Contract,
  type Fee,
  type Free,
  type Line,
  type LineEdit,
  type Model,
  type Row,
  type Service,
} from './contract.ts';
import { cut, roughDays, type Clock, type Time } from './naive-calendar.ts';
import {
  active,
  cellsOf,
  firstClock,
  lifeOf,
  livedPeriods,
  overlap,
  type Cell,
  type Lived,
} from './naive-life.ts';
import type { DatedQuota } from './naive-quotas.ts';
import { total } from './naive-rating.ts';

/** A part of a charge period for which a line has one price. */
export interface Part extends Cell {
  readonly period: Lived;
  /** Cut by the phase and by the time of the line. */
  readonly sold: Time;
  /** Cut by pauses at its ends as well. */
  readonly service: Time;
  readonly isLater: boolean;
}

/** The lines of a contract in time. */
export class Lines {
  /** With the lines of addons, in the currency of the prices. */
  readonly contract: Contract;
  /** The grid before any pause. */
  readonly clock: Clock;
  readonly life: Time;
  readonly periods: readonly Lived[];
  /**
   * The quotas of each plan in its time, by the service whose usage they make free. They are those of the plan, also
   * if its price for the service does not fit the subscription (billing 3.2, 14.2).
   */
  readonly quotas: readonly (DatedQuota & { readonly service: string })[];

  constructor(contract: Contract) {
    this.periods = livedPeriods(contract);
    this.contract = inOrder(
      withEdits(withChanges(withAddons(withMoves(inCurrency(contract)), this.periods))),
    );
    this.clock = firstClock(contract);
    this.life = lifeOf(contract);
    this.quotas = quotasOf(contract);
  }

  round(value: Decimal): Decimal {
    return value.toDecimalPlaces(this.contract.currency === 'jpy' ? 0 : 2, Decimal.ROUND_HALF_UP);
  }

  /** Whether parts of a period cost parts; the change of the plan that cuts it says that for it. */
  isProrated({ cutBy }: Lived): boolean {
    return cutBy?.prorated ?? this.contract.prorated;
  }

  /** From its attachment to its end. */
  timeOf(addon: Addon): Time {
    return { start: addon.attached, end: endOf(addon, this.periods) };
  }

  findPeriodAt(at: number): Lived | undefined {
    return this.periods.find(({ start, end }) => start <= at && at < end);
  }

  periodAt(at: number): Lived {
    return this.findPeriodAt(at)!;
  }

  /** The times of the prices of a line: the second phase may have others. */
  phases({ isOfAddon = false }: Line): { readonly time: Time; readonly isLater: boolean }[] {
    const { phase } = this.contract;
    return phase === null || isOfAddon
      ? [{ time: this.life, isLater: false }]
      : [
          { time: { ...this.life, end: phase }, isLater: false },
          { time: { ...this.life, start: phase }, isLater: true },
        ];
  }

  /** The parts of a billing period that a line charges, each on the line's own grid. */
  parts(line: Line, period: Lived): Part[] {
    const { pauses } = this.contract;
    const cells = cellsOf(period, line);
    return this.phases(line).flatMap(({ time, isLater }) =>
      cells.flatMap(({ reference, cell }) => {
        const within = cut(cut(cell, time) ?? NEVER, line.during ?? cell);
        const parts = within === null ? [] : active(within, pauses);
        if (parts.length === 0) return [];
        const service = { start: parts[0]!.start, end: parts.at(-1)!.end };
        return [{ period, reference, cell, sold: within!, service, isLater }];
      }),
    );
  }

  /** One row for each charge period, or one for the billing period and each phase. */
  inGroups(
    name: string,
    kind: Row['kind'],
    rows: readonly (Time & {
      readonly isLater: boolean;
      readonly quantity: Decimal | null;
      readonly amount: Decimal;
    })[],
  ): Row[] {
    const groups =
      this.contract.grouped && kind === 'base'
        ? [rows.filter(({ isLater }) => !isLater), rows.filter(({ isLater }) => isLater)]
        : rows.map((row) => [row]);
    return groups
      .filter((group) => group.length > 0)
      .map((group) => ({
        name,
        kind,
        start: group[0]!.start,
        end: group.at(-1)!.end,
        quantity: group.some(({ quantity }) => quantity === null)
          ? null
          : total(group.map(({ quantity }) => quantity!)).toFixed(),
        amount: total(group.map(({ amount }) => amount)).toFixed(),
      }));
  }
}

/** The lines of each plan, in its time. Those of a shorter cadence come with the first plan only. */
function withMoves(contract: Contract): Contract {
  const { unit, count, moves } = contract;
  if (moves.length === 0) return contract;
  const sold = <Sold extends Line>(lines: readonly Sold[], index: number): Sold[] =>
    lines
      .filter((line) => index === 0 || roughDays(line.unit, line.count) === roughDays(unit, count))
      .map((line) => ({
        ...line,
        during: timeOfPlan(contract, index),
      }));
  return {
    ...contract,
    fees: [contract, ...moves].flatMap(({ fees }, index) => sold(fees, index)),
    services: [contract, ...moves].flatMap(({ services }, index) =>
      sold(services, index).map((service) => ({ ...service, free: freeIn(contract, service) })),
    ),
  };
}

/** The time of the plan of that number. */
const timeOfPlan = ({ moves }: Contract, index: number): Time => ({
  start: moves[index - 1]?.at ?? -Infinity,
  end: moves[index]?.at ?? Infinity,
});

const quotasOf = (contract: Contract): Lines['quotas'] =>
  [contract, ...contract.moves].flatMap(({ services }, index) =>
    services.flatMap(({ name: service, free }) =>
      free === null || free.quota === null
        ? []
        : [{ service, quota: free.quota, time: timeOfPlan(contract, index) }],
    ),
  );

/** What a plan makes free, beside what addons and the subscription itself do under any plan (money 6.5). */
function freeIn({ services, moves, addons }: Contract, { name, free }: Service): Free | null {
  const own = services.find((one) => one.name === name)?.free?.own ?? null;
  // It replaces the limit of the first plan only.
  const isFirst = free !== null && free.own !== null;
  if (free !== null)
    return isFirst || own === null ? free : { ...free, own: { ...own, replaces: false } };
  const allowance = addons
    .flatMap(({ allowances }) => allowances)
    .find(({ service }) => service === name);
  if (own === null && allowance === undefined) return null;
  const sold = [...services, ...moves.flatMap((move) => move.services)];
  const reset = sold.find((one) => one.name === name && one.free !== null)?.free?.reset;
  return {
    ...{ limit: 0, reset: reset ?? allowance?.reset ?? null, isSoft: false, quota: null },
    own: own && { ...own, replaces: false },
  };
}

/** The lines of the addons among the others. */
function withAddons(contract: Contract, periods: readonly Lived[]): Contract {
  const lines = contract.addons.map((addon) => {
    const during = { start: addon.attached, end: endOf(addon, periods) };
    const { quantity } = addon;
    return {
      fees: addon.fees.map((fee) => ({ ...fee, quantity, during, isOfAddon: true })),
      services: addon.services.map((service) => ({ ...service, during, isOfAddon: true })),
    };
  });
  return {
    ...contract,
    fees: [...contract.fees, ...lines.flatMap(({ fees }) => fees)],
    services: [...contract.services, ...lines.flatMap(({ services }) => services)],
  };
}

/** A fee whose quantity changes is two lines, one after the other. */
function withChanges(contract: Contract): Contract {
  const fees = contract.fees.flatMap((fee) => {
    const change = contract.changes.find((one) => one.fee === fee.name);
    if (change === undefined) return [fee];
    const { at, quantity } = change;
    return [
      { ...fee, during: { start: fee.during?.start ?? -Infinity, end: at } },
      { ...fee, quantity, during: { start: at, end: fee.during?.end ?? Infinity } },
    ];
  });
  return { ...contract, fees };
}

/** Lines that begin, end, or have other terms from an instant on. */
const withEdits = (contract: Contract): Contract => contract.edits.reduce(withEdit, contract);

function withEdit(contract: Contract, edit: LineEdit): Contract {
  const during = { start: edit.at, end: Infinity };
  const { fees, services } = contract;
  if (edit.kind === 'fee') return { ...contract, fees: [...fees, { ...edit.fee, during }] };
  if (edit.kind === 'service')
    return { ...contract, services: [...services, { ...edit.service, during }] };
  const edited = <Sold extends Fee | Service>(line: Sold): Sold[] => {
    const { start, end } = line.during ?? { start: -Infinity, end: Infinity };
    if (line.name !== edit.line || edit.at < start || edit.at >= end) return [line];
    const before = { ...line, during: { start, end: edit.at } };
    return edit.kind === 'end'
      ? [before]
      : [before, { ...line, model: edit.model, during: { start: edit.at, end } }];
  };
  return { ...contract, fees: fees.flatMap(edited), services: services.flatMap(edited) };
}

/** Earlier lines come first: of equal rests of a discount, theirs are rounded up (billing 0.6). */
function inOrder(contract: Contract): Contract {
  const since = ({ during }: Line) => during?.start ?? -Infinity;
  const sorted = <Sold extends Line>(lines: readonly Sold[]) =>
    [...lines].sort((left, right) =>
      since(left) < since(right) ? -1 : Number(since(left) > since(right)),
    );
  return { ...contract, fees: sorted(contract.fees), services: sorted(contract.services) };
}

/** When an addon ends: with a period, or when that is asked for. */
function endOf({ attached, once, detached }: Addon, periods: readonly Lived[]): number {
  const at = once ? attached : (detached?.at ?? null);
  if (at === null) return Infinity;
  if (detached?.now) return at;
  const [first] = periods;
  // In a trial: with the trial (billing 15).
  if (first !== undefined && at < first.start) return first.start;
  // Periods that no pause has moved yet may end before.
  return periods.find(({ start, end }) => start <= at && at < end)?.end ?? Infinity;
}

/** Prices in a price unit are converted when they are made. */
function inCurrency(contract: Contract): Contract {
  const { currency, inUnits, addons } = contract;
  if (!inUnits || currency === 'crx') return contract;
  const times = (text: string) => new Decimal(text).times(PRICE_UNITS[currency].rate).toFixed();
  const converted = (model: Model): Model =>
    model.kind === 'flat' || model.kind === 'package'
      ? { ...model, each: times(model.each) }
      : {
          ...model,
          tiers: model.tiers.map((tier) => ({
            ...tier,
            each: times(tier.each),
            flat: times(tier.flat),
          })),
        };
  const priced = <Priced extends Fee | Service>(line: Priced): Priced => ({
    ...line,
    model: converted(line.model),
    later: line.later && converted(line.later),
  });
  const offered = <Offer extends Pick<Contract, 'fees' | 'services'>>(offer: Offer): Offer => ({
    ...offer,
    fees: offer.fees.map(priced),
    services: offer.services.map(priced),
  });
  return { ...offered(contract), addons: addons.map(offered) };
}

export const modelOf = (
  { model, later }: Fee | Service,
  { isLater }: Pick<Part, 'isLater'>,
): Model => (isLater ? (later ?? model) : model);

export const NEVER: Time = { start: 0, end: 0 };

/** What a part of a period is worth; pauses that made the period longer count for neither. */
export const share = (part: Time, whole: Time, added: readonly Time[]): Decimal =>
  new Decimal(part.end - part.start - overlap(part, added)).div(
    whole.end - whole.start - overlap(whole, added),
  );
