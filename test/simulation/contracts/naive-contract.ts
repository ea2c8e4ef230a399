import { Decimal } from '../../../domain/money.ts';
import {
  FACTOR,
  type Bill,
  type Cadence,
  type Contract,
  type Fee,
  type Row,
  type Service,
  type Use,
} from './contract.ts';
import {
  boundary,
  calendarAnchor,
  cellAt,
  cellsOver,
  clockAt,
  cut,
  roughDays,
  windowsOver,
  type Bucket,
  type Clock,
  type Time,
  type Unit,
} from './naive-calendar.ts';
import { committed, positive, rate, total, zero, type Outcome } from './naive-rating.ts';

/** A part of a charge period for which a line has one price. */
interface Part {
  readonly reference: Time;
  /** Cut by the subscription. */
  readonly cell: Time;
  /** Cut by the phase. */
  readonly service: Time;
  readonly isLater: boolean;
}

/**
 * A second, naive account of one contract: what each of its invoices says, row by row. It shares decimals with the
 * product and nothing else: its calendar is luxon's, and it goes through all usage for every sum.
 */
export class Account {
  readonly #contract: Contract;
  readonly #uses: readonly Use[];
  readonly #clock: Clock;
  readonly #life: Time;
  readonly periods: readonly Time[];

  constructor(contract: Contract, uses: readonly Use[]) {
    this.#contract = contract;
    this.#uses = uses;
    const { cycle, zone, unit, count, start, end } = contract;
    const anchor =
      cycle === 'calendar' ? calendarAnchor(zone, unit, start) : (contract.anchor ?? start);
    this.#clock = clockAt(zone, anchor);
    this.#life = { start, end: end ?? Infinity };
    const periods: Time[] = [];
    for (let at = start; periods.length <= contract.periods && at < this.#life.end;) {
      const period = cut(cellAt(this.#clock, unit, count, at), this.#life)!;
      periods.push(period);
      at = period.end;
    }
    this.periods = periods;
  }

  /** Of the opening, then one for each period. */
  bills(): Bill[] {
    const { periods, credits } = this.#contract;
    const lived = this.periods.slice(0, periods);
    let left = new Decimal(credits);
    const bill = (period: Time, rows: readonly Row[]) => {
      const made = this.#settle(period, rows, left);
      left = left.minus(made.credits);
      return made;
    };
    return [
      bill(lived[0]!, this.#feeRows(lived[0]!, true)),
      ...lived.map((period, index) => {
        const next = this.periods[index + 1];
        return bill(period, [
          ...(next === undefined ? [] : this.#feeRows(next, true)),
          ...this.#feeRows(period, false),
          ...this.#usageRows(period),
        ]);
      }),
    ];
  }

  #round(value: Decimal): Decimal {
    return value.toDecimalPlaces(this.#contract.currency === 'jpy' ? 0 : 2, Decimal.ROUND_HALF_UP);
  }

  /** The parts of a billing period that a line charges, each on the line's own grid. */
  #parts({ unit, count }: Cadence, period: Time): Part[] {
    const { phase } = this.#contract;
    const cells = cellsOver(this.#clock, unit, count, period).map((reference) => ({
      reference,
      cell: cut(reference, period)!,
    }));
    const phases =
      phase === null
        ? [{ time: this.#life, isLater: false }]
        : [
            { time: { ...this.#life, end: phase }, isLater: false },
            { time: { ...this.#life, start: phase }, isLater: true },
          ];
    return phases.flatMap(({ time, isLater }) =>
      cells.flatMap(({ reference, cell }) => {
        const service = cut(cell, time);
        return service === null ? [] : [{ reference, cell, service, isLater }];
      }),
    );
  }

  #feeRows(period: Time, advance: boolean): Row[] {
    const { fees, prorated } = this.#contract;
    return fees
      .filter((fee) => fee.advance === advance)
      .flatMap((fee) => {
        const rows = this.#parts(fee, period).map(({ reference, cell, service, isLater }) => {
          const model = isLater ? (fee.later ?? fee.model) : fee.model;
          const quantity = new Decimal(fee.quantity);
          // Without prorations a cut period costs as much as a whole one; phases share it by time.
          const start = !prorated && service.start === cell.start ? reference.start : service.start;
          const end = !prorated && service.end === cell.end ? reference.end : service.end;
          const amount = rate(model, quantity)
            .times(end - start)
            .div(reference.end - reference.start);
          return { ...service, isLater, quantity, amount: this.#round(amount) };
        });
        return this.#inGroups(fee.name, 'base', rows);
      });
  }

  /** One row for each charge period, or one for the billing period and each phase. */
  #inGroups(
    name: string,
    kind: Row['kind'],
    rows: readonly (Time & {
      readonly isLater: boolean;
      readonly quantity: Decimal | null;
      readonly amount: Decimal;
    })[],
  ): Row[] {
    const groups =
      this.#contract.grouped && kind === 'base'
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

  #measured(service: Service, { start, end }: Time): Decimal {
    const values = this.#uses
      .filter((use) => use.service === service.name && use.at >= start && use.at < end)
      .map(({ value }) => new Decimal(value));
    if (service.bucket?.sum === false) return values.length === 0 ? zero : Decimal.max(...values);
    return total(values);
  }

  /** Billable usage of each window of a part; one window if the price has none. */
  #billable(service: Service, part: Part): { readonly window: Time; readonly units: Decimal }[] {
    const windows = this.#windows(service, part);
    return windows.map((window) => {
      const inside = cut(window, part.service)!;
      if (service.free === null) return { window, units: this.#measured(service, inside) };
      return { window, units: this.#beyondFree(service, part, inside) };
    });
  }

  #windows(service: Service, part: Part): Time[] {
    const { bucket, commitment } = service;
    if (bucket !== null) return windowsOver(bucket.size, this.#clock, part.service);
    const duration = commitment?.duration ?? null;
    if (duration !== null && roughDays(duration) < roughDays(service.unit, service.count))
      return cellsOver(this.#clock, duration, 1, part.service);
    return [part.service];
  }

  /** What usage of a time adds to that beyond the free usage of its reset windows. */
  #beyondFree(service: Service, part: Part, inside: Time): Decimal {
    const { reset } = service.free!;
    const limit = this.#limit(service, part);
    const resets =
      reset === null
        ? [part.cell]
        : reset === 'NEVER'
          ? [this.#life]
          : reset === 'DAILY'
            ? windowsOver('DAY', this.#clock, inside)
            : cellsOver(this.#clock, reset, 1, inside);
    return total(
      resets.map((uncut) => {
        const window = cut(uncut, this.#life)!;
        const own = cut(window, inside)!;
        const beyond = (end: number) =>
          positive(this.#measured(service, { start: window.start, end }).minus(limit));
        return beyond(own.end).minus(beyond(own.start));
      }),
    );
  }

  #limit(service: Service, { cell, reference }: Part): Decimal {
    const { limit, reset } = service.free!;
    const whole = new Decimal(limit);
    if (!this.#contract.prorated || reset === 'NEVER') return whole;
    if (reset !== null && roughDays(reset) < roughDays(service.unit, service.count)) return whole;
    const share = whole.times(cell.end - cell.start).div(reference.end - reference.start);
    return share.toDecimalPlaces(0, Decimal.ROUND_HALF_UP);
  }

  #usageRows(period: Time): Row[] {
    const { services, commitment } = this.#contract;
    const charged = services.map((service) => ({
      service,
      parts: this.#parts(service, period).map((part) => this.#charge(service, part)),
    }));
    const rows = charged.flatMap(({ service, parts }) => {
      if (parts.every(({ term }) => term === null))
        return this.#inGroups(
          service.name,
          'base',
          parts.map((part) => ({ ...part, amount: this.#round(part.amount) })),
        );
      const base = this.#inGroups(
        service.name,
        'base',
        parts.map((part) => ({ ...part, amount: this.#termRows(part.term!).within })),
      );
      const beside = parts.flatMap((part) => {
        const { overage, trueUp } = this.#termRows(part.term!);
        return [
          ...(overage.gt(0)
            ? this.#inGroups(service.name, 'overage', [
                { ...part, quantity: null, amount: overage },
              ])
            : []),
          ...(trueUp.gt(0)
            ? this.#inGroups(service.name, 'true_up', [{ ...part, quantity: null, amount: trueUp }])
            : []),
        ];
      });
      return [...base, ...beside];
    });
    if (commitment === null) return rows;
    return this.#pooled(
      period,
      total(charged.flatMap(({ parts }) => parts.map(({ amount }) => amount))),
    );
  }

  #termRows({ within, overage, trueUp }: Outcome): Outcome {
    const charge = this.#round(within.plus(overage).plus(trueUp));
    const [over, up] = [this.#round(overage), this.#round(trueUp)];
    return { within: charge.minus(over).minus(up), overage: over, trueUp: up };
  }

  /** The unrounded charge of a part, before the commitment of the subscription. */
  #charge(service: Service, part: Part) {
    const model = part.isLater ? (service.later ?? service.model) : service.model;
    const windows = this.#billable(service, part);
    const quantity = total(windows.map(({ units }) => units));
    const rated = windows.map(({ window, units }) => ({ window, amount: rate(model, units) }));
    const amount = total(rated.map((one) => one.amount));
    const base = { ...part.service, isLater: part.isLater, quantity };
    const { commitment } = service;
    if (commitment === null) return { ...base, amount, term: null };

    const promised =
      commitment.type === 'amount'
        ? new Decimal(commitment.value)
        : rate(model, new Decimal(commitment.value));
    const duration = commitment.duration === null ? 0 : roughDays(commitment.duration);
    const own = roughDays(service.unit, service.count);
    if (duration > own) {
      const outcome = this.#inTerm(
        { ...commitment, value: promised, duration: commitment.duration! },
        part.cell,
        amount,
        (start) => this.#usageBefore(service, start, part.cell.start),
      );
      return { ...base, amount, term: outcome };
    }
    const isPerWindow = commitment.windowed || (duration > 0 && duration < own);
    const terms = (isPerWindow ? rated : [{ window: part.reference, amount }]).map((one) => {
      const service = cut(one.window, part.service)!;
      const share = this.#contract.prorated
        ? new Decimal(service.end - service.start).div(one.window.end - one.window.start)
        : new Decimal(1);
      return committed(one.amount, promised.times(share), zero, commitment, commitment.trueUp);
    });
    return {
      ...base,
      amount: total(terms.flatMap(({ within, overage, trueUp }) => [within, overage, trueUp])),
      term: null,
    };
  }

  /** Money of a service for the charge periods between two instants, before its commitment. */
  #usageBefore(service: Service, start: number, end: number): Decimal {
    return total(
      this.periods
        .filter((period) => period.start < end && period.end > start)
        .flatMap((period) => this.#parts(service, period))
        .filter(({ cell }) => cell.start >= start && cell.start < end)
        .map((part) =>
          total(this.#billable(service, part).map(({ units }) => rate(service.model, units))),
        ),
    );
  }

  /** A commitment over several periods: the first term begins with the subscription. */
  #inTerm(
    commitment: {
      readonly value: Decimal;
      readonly factor: string;
      readonly trueUp: boolean;
      readonly duration: Unit;
    },
    cell: Time,
    amount: Decimal,
    before: (start: number) => Decimal,
  ): Outcome {
    const first = boundary(this.#clock, commitment.duration, 1, 1);
    const term =
      cell.start < first
        ? { start: this.#life.start, end: first }
        : cellAt(this.#clock, commitment.duration, 1, cell.start);
    const end = Math.min(term.end, this.#life.end);
    const share = this.#contract.prorated
      ? new Decimal(end - term.start).div(term.end - term.start)
      : new Decimal(1);
    const isLast = cell.end >= end;
    const value = commitment.value.times(share);
    return committed(amount, value, before(term.start), commitment, commitment.trueUp && isLast);
  }

  /** One row for all usage: how it is shared by the lines is not told here. */
  #pooled(period: Time, amount: Decimal): Row[] {
    const commitment = this.#contract.commitment!;
    const value = new Decimal(commitment.value);
    const { unit, count } = this.#contract;
    const outcome =
      commitment.duration !== null && roughDays(commitment.duration) > roughDays(unit, count)
        ? this.#inTerm(
            { ...commitment, value, duration: commitment.duration },
            period,
            amount,
            (start) =>
              total(
                this.periods
                  .filter((one) => one.start >= start && one.start < period.start)
                  .map((one) => this.#pooledUsage(one)),
              ),
          )
        : committed(amount, value.times(this.#stub(period)), zero, commitment, commitment.trueUp);
    const charge = outcome.within.plus(outcome.overage).plus(outcome.trueUp);
    return [
      {
        name: 'usage',
        kind: 'base',
        ...period,
        quantity: null,
        amount: this.#round(charge).toFixed(),
      },
    ];
  }

  #stub(period: Time): Decimal {
    if (!this.#contract.prorated) return new Decimal(1);
    const { unit, count } = this.#contract;
    const whole = cellAt(this.#clock, unit, count, period.start);
    return new Decimal(period.end - period.start).div(whole.end - whole.start);
  }

  #pooledUsage(period: Time): Decimal {
    return total(
      this.#contract.services.flatMap((service) =>
        this.#parts(service, period).map((part) => this.#charge(service, part).amount),
      ),
    );
  }

  #settle(period: Time, given: readonly Row[], credits: Decimal): Bill {
    const { off, taxes, currency } = this.#contract;
    const rows =
      currency === 'crx'
        ? given.map((row) => ({
            ...row,
            amount: this.#round(new Decimal(row.amount).times(FACTOR)).toFixed(),
          }))
        : given;
    const amounts = (some: readonly Row[]) => total(some.map(({ amount }) => new Decimal(amount)));
    const subtotal = amounts(rows);
    const until =
      off?.periods == null ? Infinity : (this.periods[off.periods - 1]?.end ?? Infinity);
    const discount = this.#round(
      amounts(rows.filter(({ start }) => start < until))
        .times(off?.percent ?? 0)
        .div(100),
    );
    const base = subtotal.minus(discount);
    const inclusive = taxes.filter((tax) => tax.inclusive);
    const rates = total(inclusive.map(({ percent }) => new Decimal(percent)));
    const within = total(
      inclusive.map(({ percent }) => this.#round(base.times(percent).div(rates.plus(100)))),
    );
    const beside = total(
      taxes
        .filter((tax) => !tax.inclusive)
        .map(({ percent }) => this.#round(base.minus(within).times(percent).div(100))),
    );
    const paid = Decimal.min(credits, base);
    // An invoice without value is skipped: nothing is computed for it.
    const isSkipped = rows.every(({ amount }) => new Decimal(amount).isZero());
    return {
      period,
      rows,
      subtotal: subtotal.toFixed(),
      discount: discount.toFixed(),
      credits: paid.toFixed(),
      tax: isSkipped ? '0' : within.plus(beside).toFixed(),
      total: base.minus(paid).plus(beside).toFixed(),
    };
  }
}

/** Unrounded. */
