import { Decimal } from '../../../domain/money.ts';
import type { Service, Use } from './contract.ts';
import {
  cellAt,
  cellsOver,
  cut,
  roughDays,
  windowsOver,
  type Time,
  type Unit,
} from './naive-calendar.ts';
import { cellsOf, type Lived } from './naive-life.ts';
import { share, type Lines, type Part } from './naive-lines.ts';
import { beyondQuota, type DatedQuota } from './naive-quotas.ts';
import { positive, total, zero } from './naive-rating.ts';

/** The usage of a contract in the windows in which it is rated, less what is free. */
export class Measured {
  readonly #lines: Lines;
  readonly #uses: readonly Use[];

  constructor(lines: Lines, uses: readonly Use[]) {
    this.#lines = lines;
    this.#uses = uses.filter((use) => this.#isCounted(use));
  }

  /** Of a customer who uses the subscription: from the start of the period of the joining until the leaving. */
  #isCounted({ by, at }: Use): boolean {
    if (by === 0) return true;
    const member = this.#lines.contract.members[by - 1];
    if (member === undefined) return false;
    const { joins, leaves } = member;
    const from =
      joins === null
        ? this.#lines.life.start
        : this.#lines.periods.find(({ start, end }) => start <= joins && joins < end)!.start;
    return at >= from && (leaves === null || at < leaves);
  }

  /** Usage that comes after the invoice of its period is in longer windows of later periods only (billing 17.6). */
  #measured(service: Service, { period }: Part, { start, end }: Time): Decimal {
    const { pauses } = this.#lines.contract;
    const values = this.#uses
      .filter((use) => use.service === service.name && use.at >= start && use.at < end)
      .filter(({ late, at }) => late !== 'final' || at < period.start)
      .filter(({ at }) => !pauses.some((pause) => pause.start <= at && at < pause.end))
      .map(({ value }) => new Decimal(value));
    if (service.max) return values.length === 0 ? zero : Decimal.max(...values);
    return total(values);
  }

  /** Billable usage of each window of a part; one window if the price has none. */
  billable(service: Service, part: Part): { readonly window: Time; readonly units: Decimal }[] {
    const windows = this.#windows(service, part);
    return windows.map((window) => {
      const inside = cut(window, part.service)!;
      if (service.free === null) return { window, units: this.#measured(service, part, inside) };
      return { window, units: this.#beyondFree(service, part, inside) };
    });
  }

  #windows(service: Service, part: Part): Time[] {
    const { bucket, commitment } = service;
    if (bucket !== null && bucket.size !== 'MONTH')
      return windowsOver(bucket.size, this.#lines.clock, part.service);
    const duration = bucket === null ? (commitment?.duration ?? null) : 'MONTHLY';
    const isShorter =
      duration !== null && roughDays(duration) < roughDays(service.unit, service.count);
    return bucket !== null || isShorter
      ? gridOf(duration!, part.period, part.service)
      : [part.service];
  }

  /** What usage of a time adds to that beyond the free usage of its reset windows. */
  #beyondFree(service: Service, part: Part, inside: Time): Decimal {
    const limit = this.#limit(service, part);
    if (limit === null) return zero;
    // Beside a quota, limits count nothing (money 7.1).
    if (service.free!.quota !== null) return this.#beyondQuota(service, part, inside);
    return total(
      this.#resets(service, part, inside).map((uncut) => {
        const window = cut(uncut, this.#lines.life)!;
        const own = cut(window, inside)!;
        const beyond = (end: number) =>
          positive(this.#measured(service, part, { start: window.start, end }).minus(limit));
        return beyond(own.end).minus(beyond(own.start));
      }),
    );
  }

  #beyondQuota({ name }: Service, { period }: Part, inside: Time): Decimal {
    const { pauses, zone } = this.#lines.contract;
    const uses = this.#uses.filter(
      ({ service, at, late }) =>
        service === name &&
        late !== 'final' &&
        cut({ start: at, end: at + 1 }, period) !== null &&
        !pauses.some(({ start, end }) => start <= at && at < end),
    );
    return total(
      beyondQuota(this.#quotas(name), zone, this.#uncut(period), uses)
        .filter(({ at }) => inside.start <= at && at < inside.end)
        .map(({ units }) => units),
    );
  }

  /** The quotas of the plans and addons, each in its time. */
  #quotas(name: string): DatedQuota[] {
    const { addons } = this.#lines.contract;
    const ofPlans = this.#lines.quotas.filter(({ service }) => service === name);
    const ofAddons = addons.flatMap((addon) =>
      addon.allowances.flatMap(({ service, quota }) => {
        if (service !== name || quota === null) return [];
        const units = quota.units * addon.quantity;
        return [{ quota: { ...quota, units }, time: this.#lines.timeOf(addon) }];
      }),
    );
    return [...ofPlans, ...ofAddons];
  }

  #uncut({ clock, start, added }: Lived): Time {
    const { unit, count } = this.#lines.contract;
    const cell = cellAt(clock, unit, count, start);
    return {
      ...cell,
      end: cell.end + total(added.map((pause) => new Decimal(pause.end - pause.start))).toNumber(),
    };
  }

  #resets(service: Service, part: Part, inside: Time): Time[] {
    const { unit, count } = this.#lines.contract;
    const { reset } = service.free!;
    if (reset === null) return [part.cell];
    if (reset === 'NEVER') return [this.#lines.life];
    if (reset === 'DAILY') return windowsOver('DAY', this.#lines.clock, inside);
    // Windows longer than a period do not move with a pause.
    return roughDays(reset) > roughDays(unit, count)
      ? cellsOver(this.#lines.clock, reset, 1, inside)
      : gridOf(reset, part.period, inside);
  }

  /** The limits of the plan, of the subscription, and of addons in the time of a part; null: unlimited. */
  #limit({ name, free, ...line }: Service, part: Part): Decimal | null {
    const { limit, reset, own } = free!;
    const ofAddons = this.#lines.contract.addons
      .filter((addon) => cut(this.#lines.timeOf(addon), part.service) !== null)
      .flatMap(({ allowances, quantity }) =>
        allowances
          .filter(({ service, quota }) => service === name && quota === null)
          .map((one) => (one.limit === null ? null : one.limit * quantity)),
      );
    // A quota replaces the limit of its plan.
    const ofPlan = own?.replaces || free!.quota !== null ? [] : [limit];
    const sold = [...ofPlan, ...ofAddons];
    // Its last limit before the end of the period counts for all of it (billing 4.7).
    const changed = this.#lines.contract.limits.findLast(
      ({ service, at }) => service === name && at < part.period.end,
    );
    const ofSubscription = own === null ? [] : [changed === undefined ? own.limit : changed.limit];
    if ([...sold, ...ofSubscription].includes(null)) return null;
    const sum = (limits: readonly (number | null)[]) =>
      total(limits.map((one) => new Decimal(one!)));
    const isShorter =
      reset !== null && reset !== 'NEVER' && roughDays(reset) < roughDays(line.unit, line.count);
    const isWhole = !this.#lines.isProrated(part.period) || reset === 'NEVER' || isShorter;
    const ofPart = isWhole ? new Decimal(1) : share(part.cell, part.reference, part.period.added);
    return sum(sold)
      .times(ofPart)
      .toDecimalPlaces(0, Decimal.ROUND_HALF_UP)
      .plus(sum(ofSubscription));
  }
}

/** Uncut cells of a unit in a period that overlap a time; pauses that made the period longer are in them. */
export const gridOf = (unit: Unit, period: Lived, time: Time): Time[] =>
  cellsOf(period, { unit, count: 1 })
    .map(({ reference }) => reference)
    .filter((reference) => cut(reference, time) !== null);
