import { Decimal } from '../../../domain/money.ts';
import {
  PRICE_UNITS,
  type Addon,
  type Bill,
  type Block,
  type Cadence,
  type Contract,
  type Draft,
  type Fee,
  type Line,
  type Model,
  type Row,
  type Service,
  type Use,
} from './contract.ts';
import {
  boundary,
  cellAt,
  cellsOver,
  cut,
  roughDays,
  windowsOver,
  type Clock,
  type Time,
  type Unit,
} from './naive-calendar.ts';
import { grantedBlocks } from './naive-grants.ts';
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
import { committed, positive, rate, total, zero, type Outcome } from './naive-rating.ts';
import { settle } from './naive-settlement.ts';

/** Drafts of usage are final so long after their period. */
export const GRACE_MS = 7_200_000;

/** A part of a charge period for which a line has one price. */
interface Part extends Cell {
  readonly period: Lived;
  /** Cut by the phase, and by pauses at its ends. */
  readonly service: Time;
  readonly isLater: boolean;
}

/**
 * A second, naive account of one contract: what each of its invoices says, row by row. It shares decimals with the
 * product and nothing else: its calendar is luxon's, and it goes through all usage for every sum.
 */
export class Account {
  readonly #sold: Contract;
  readonly #given: readonly Use[];
  /** With the lines of addons, in the currency of the prices. */
  readonly #contract: Contract;
  readonly #uses: readonly Use[];
  readonly #clock: Clock;
  readonly #life: Time;
  readonly periods: readonly Lived[];

  constructor(contract: Contract, uses: readonly Use[]) {
    this.#sold = contract;
    this.#given = uses;
    this.#contract = withAddons(inCurrency(contract), livedPeriods(contract));
    this.#clock = firstClock(contract);
    this.#life = lifeOf(contract);
    this.periods = livedPeriods(contract);
    this.#uses = uses.filter((use) => this.#isCounted(use));
  }

  /** Of a customer who uses the subscription: from the start of the period of the joining until the leaving. */
  #isCounted({ by, at }: Use): boolean {
    if (by === 0) return true;
    const member = this.#contract.members[by - 1];
    if (member === undefined) return false;
    const { joins, leaves } = member;
    const from =
      joins === null
        ? this.#life.start
        : this.periods.find(({ start, end }) => start <= joins && joins < end)!.start;
    return at >= from && (leaves === null || at < leaves);
  }

  /** The opening, then the invoices of each period, each as far as the pauses were known when it was drafted. */
  bills(): Bill[] {
    const { periods: count } = this.#contract;
    const unpaused = this.#asKnownAt(this.#life.start - 1);
    const [first] = unpaused.periods;
    const opening: Draft = {
      ...{ reason: 'SUBSCRIPTION_CREATE', period: first! },
      ...{ drafted: first!.start, issued: first!.start },
      rows: unpaused.#advanceRows(first!),
    };
    const drafts = this.periods.slice(0, count).flatMap(({ closed: drafted }, index): Draft[] => {
      const known = this.#asKnownAt(drafted);
      const [period, next] = known.periods.slice(index, index + 2);
      const usage = known.#usageRows(period!);
      const cycle: Draft = {
        ...{ reason: 'SUBSCRIPTION_CYCLE', period: period!, drafted },
        issued: usage.length > 0 ? drafted + GRACE_MS : drafted,
        rows: [
          ...(next === undefined || next.restarts ? [] : known.#advanceRows(next)),
          ...known.#arrearRows(period!),
          ...usage,
        ],
      };
      if (next?.restarts !== true || index + 1 >= count) return [cycle];
      const { start } = next;
      const rows = known.#advanceRows(next);
      const begun: Draft = {
        ...{ reason: 'SUBSCRIPTION_UPDATE', period: next, drafted: start, issued: start, rows },
      };
      return [cycle, begun];
    });
    const blocks = [...this.#credited(), ...grantedBlocks(this.#contract, this.periods)];
    return settle(
      this.#contract,
      this.periods,
      [opening, ...drafts, ...this.#attachments()].sort(
        (left, right) => left.drafted - right.drafted,
      ),
      (bills) => [...blocks, ...this.#detachments(bills)],
    );
  }

  /** The account without the pauses that begin after an instant. */
  #asKnownAt(instant: number): Account {
    const { pauses } = this.#sold;
    const begun = pauses.filter(({ start }) => start <= instant);
    return begun.length === pauses.length
      ? this
      : new Account({ ...this.#sold, pauses: begun }, this.#given);
  }

  #round(value: Decimal): Decimal {
    return value.toDecimalPlaces(this.#contract.currency === 'jpy' ? 0 : 2, Decimal.ROUND_HALF_UP);
  }

  /** The parts of a billing period that a line charges, each on the line's own grid. */
  #parts(line: Line, period: Lived): Part[] {
    const { phase, pauses } = this.#contract;
    const cells = cellsOf(period, line);
    const phases =
      phase === null
        ? [{ time: this.#life, isLater: false }]
        : [
            { time: { ...this.#life, end: phase }, isLater: false },
            { time: { ...this.#life, start: phase }, isLater: true },
          ];
    return phases.flatMap(({ time, isLater }) =>
      cells.flatMap(({ reference, cell }) => {
        const within = cut(cut(cell, time) ?? NEVER, line.during ?? cell);
        const parts = within === null ? [] : active(within, pauses);
        if (parts.length === 0) return [];
        const service = { start: parts[0]!.start, end: parts.at(-1)!.end };
        return [{ period, reference, cell, service, isLater }];
      }),
    );
  }

  /** Fees of a period that is about to begin; ends of addons in it are not known yet. */
  #advanceRows(period: Lived): Row[] {
    return this.#contract.fees
      .filter(({ advance, during }) => advance && isAt(during, period.start))
      .flatMap((fee) => {
        const parts = this.#parts({ ...fee, during: null }, period);
        return this.#inGroups(
          fee.name,
          'base',
          parts.map((part) => this.#feeRow(fee, part)),
        );
      });
  }

  #arrearRows(period: Lived): Row[] {
    const { fees, pauses, cycle } = this.#contract;
    return fees
      .filter(({ advance }) => !advance)
      .flatMap((fee) => {
        const parts = this.#parts(fee, period).flatMap((part) =>
          // A calendar is paid for the time that was served, a longer period as a whole.
          cycle === 'calendar'
            ? active(part.service, pauses).map((service) => ({ ...part, service }))
            : [pauses.length === 0 ? part : { ...part, service: part.cell }],
        );
        return this.#inGroups(
          fee.name,
          'base',
          parts.map((part) => this.#feeRow(fee, part)),
        );
      });
  }

  #feeRow(
    fee: Fee,
    { period, reference, cell, service, isLater }: Part,
    prorated = this.#contract.prorated,
  ) {
    const model = modelOf(fee, { isLater });
    const quantity = new Decimal(fee.quantity);
    // Without prorations a cut period costs as much as a whole one; phases share it by time.
    const start = !prorated && service.start === cell.start ? reference.start : service.start;
    const end = !prorated && service.end === cell.end ? reference.end : service.end;
    const amount = rate(model, quantity).times(share({ start, end }, reference, period.added));
    return { ...service, isLater, quantity, amount: this.#round(amount) };
  }

  /** What attached addons cost at once: the rest of their advances. */
  #attachments(): Draft[] {
    return this.#contract.addons.flatMap(({ attached, prorated, fees }): Draft[] => {
      const period = this.periods.find(({ start, end }) => start <= attached && attached < end)!;
      const names = new Set(fees.map(({ name }) => name));
      const rows = this.#contract.fees
        .filter(({ advance, name }) => advance && names.has(name))
        .flatMap((fee) => {
          const during = { start: attached, end: Infinity };
          return this.#parts({ ...fee, during }, period).map((part) => {
            const { start, end, quantity, amount } = this.#feeRow(fee, part, true);
            const kind = 'base' as const;
            return {
              ...{ name: fee.name, kind, start, end },
              ...{ quantity: quantity.toFixed(), amount: amount.toFixed() },
            };
          });
        });
      if (!(prorated ?? this.#contract.prorated) || rows.length === 0) return [];
      const reason = 'SUBSCRIPTION_UPDATE';
      return [{ reason, period, drafted: attached, issued: attached, rows }];
    });
  }

  /** What is credited for advances of addons that end before them. */
  #detachments(bills: readonly Bill[]): Block[] {
    return this.#contract.addons.flatMap(({ detached, prorated, fees }): Block[] => {
      if (detached?.now !== true || !(prorated ?? this.#contract.prorated)) return [];
      const { at } = detached;
      const period = this.periods.find(({ start, end }) => start <= at && at < end)!;
      const names = new Set(fees.map(({ name }) => name));
      const rows = bills.flatMap((one) => one.rows);
      const credits = this.#contract.fees
        .filter(({ advance, name }) => advance && names.has(name))
        .flatMap((fee) =>
          cellsOf(period, fee).map(({ reference, cell }) => {
            const unused = cut(cell, { start: at, end: Infinity });
            if (unused === null) return zero;
            const isOne = this.#contract.grouped && cellsOf(period, fee).length > 1;
            const charged = rows.filter(
              ({ name, start }) =>
                name === fee.name &&
                (isOne
                  ? start >= period.start && start < period.end
                  : start >= cell.start && start < cell.end),
            );
            const gross = total(charged.map(({ amount }) => new Decimal(amount)));
            const net = total(charged.map((row) => row.net));
            if (gross.isZero()) return zero;
            const whole = rate(fee.model, new Decimal(fee.quantity));
            const part = whole
              .times(share(unused, reference, []))
              .times(net)
              .div(gross);
            const credit = Decimal.min(this.#round(part), net);
            const tax = total(charged.map((row) => row.tax));
            return credit.plus(credit.eq(net) ? tax : this.#round(tax.times(credit).div(net)));
          }),
        );
      const amount = this.#round(total(credits)).toFixed();
      return [{ at, amount, priority: null, expiry: null }];
    });
  }

  /** What is credited for pauses on a calendar with prorations, when they end. */
  #credited(): Block[] {
    const { cycle, prorated, pauses, fees } = this.#contract;
    if (cycle === 'anniversary' || !prorated) return [];
    return pauses.flatMap(({ start, end }): Block[] => {
      const period = this.periods.find((one) => one.start <= start && start < one.end);
      if (period === undefined) return [];
      const earlier = pauses.filter((pause) => pause.start <= period.start);
      const amounts = fees
        .filter(({ advance }) => advance)
        .flatMap((fee) =>
          cellsOf(period, fee).flatMap(({ reference, cell }) => {
            const unused = active(cell, earlier).map((part) => cut(part, { start, end }))[0];
            if (unused == null) return [];
            const each = rate(fee.model, new Decimal(fee.quantity));
            return [this.#round(each.times(share(unused, reference, [])))];
          }),
        );
      return [{ at: end, amount: total(amounts).toFixed(), priority: null, expiry: null }];
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
    const { pauses } = this.#contract;
    const values = this.#uses
      .filter((use) => use.service === service.name && use.at >= start && use.at < end)
      .filter(({ at }) => !pauses.some((pause) => pause.start <= at && at < pause.end))
      .map(({ value }) => new Decimal(value));
    if (service.max) return values.length === 0 ? zero : Decimal.max(...values);
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
    if (bucket !== null && bucket.size !== 'MONTH')
      return windowsOver(bucket.size, this.#clock, part.service);
    const duration = bucket === null ? (commitment?.duration ?? null) : 'MONTHLY';
    const isShorter =
      duration !== null && roughDays(duration) < roughDays(service.unit, service.count);
    return bucket !== null || isShorter
      ? this.#grid(duration!, part.period, part.service)
      : [part.service];
  }

  /** Uncut cells of a unit in a period that overlap a time; pauses that made the period longer are in them. */
  #grid(unit: Unit, period: Lived, time: Time): Time[] {
    return cellsOf(period, { unit, count: 1 })
      .map(({ reference }) => reference)
      .filter((reference) => cut(reference, time) !== null);
  }

  /** What usage of a time adds to that beyond the free usage of its reset windows. */
  #beyondFree(service: Service, part: Part, inside: Time): Decimal {
    const limit = this.#limit(service, part);
    return total(
      this.#resets(service, part, inside).map((uncut) => {
        const window = cut(uncut, this.#life)!;
        const own = cut(window, inside)!;
        const beyond = (end: number) =>
          positive(this.#measured(service, { start: window.start, end }).minus(limit));
        return beyond(own.end).minus(beyond(own.start));
      }),
    );
  }

  #resets(service: Service, part: Part, inside: Time): Time[] {
    const { unit, count } = this.#contract;
    const { reset } = service.free!;
    if (reset === null) return [part.cell];
    if (reset === 'NEVER') return [this.#life];
    if (reset === 'DAILY') return windowsOver('DAY', this.#clock, inside);
    // Windows longer than a period do not move with a pause.
    return roughDays(reset) > roughDays(unit, count)
      ? cellsOver(this.#clock, reset, 1, inside)
      : this.#grid(reset, part.period, inside);
  }

  #limit(service: Service, { cell, reference, period }: Part): Decimal {
    const { limit, reset } = service.free!;
    const whole = new Decimal(limit);
    if (!this.#contract.prorated || reset === 'NEVER') return whole;
    if (reset !== null && roughDays(reset) < roughDays(service.unit, service.count)) return whole;
    return whole
      .times(share(cell, reference, period.added))
      .toDecimalPlaces(0, Decimal.ROUND_HALF_UP);
  }

  #usageRows(period: Lived): Row[] {
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
    const model = modelOf(service, part);
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
        this.#shadowOf(service, part),
        amount,
        (start) => this.#usageBefore(service, start, this.#shadowOf(service, part).start),
      );
      return { ...base, amount, term: outcome };
    }
    const isPerWindow = commitment.windowed || (duration > 0 && duration < own);
    const { prorated, pauses } = this.#contract;
    const isClocked = commitment.windowed && service.bucket?.size !== 'MONTH';
    const terms = (
      isPerWindow ? this.#inDuration(service, part, rated) : [{ window: part.reference, amount }]
    )
      .map((one) => ({ ...one, served: active(cut(one.window, part.service)!, pauses) }))
      .filter(({ served }) => served.length > 0)
      .map(({ amount, window, served }) => {
        const added = isClocked ? [] : part.period.added;
        const whole = window.end - window.start - overlap(window, added);
        const time = total(served.map(({ start, end }) => new Decimal(end - start)));
        const promise = prorated ? promised.times(time).div(whole) : promised;
        return committed(amount, promise, zero, commitment, commitment.trueUp);
      });
    return {
      ...base,
      amount: total(terms.flatMap(({ within, overage, trueUp }) => [within, overage, trueUp])),
      term: null,
    };
  }

  /** Windows of a bucket in those of a shorter commitment: each in the one in which its usage begins. */
  #inDuration(
    { bucket, commitment }: Service,
    { period, service }: Part,
    rated: readonly { readonly window: Time; readonly amount: Decimal }[],
  ): readonly { readonly window: Time; readonly amount: Decimal }[] {
    if (bucket === null || commitment!.windowed) return rated;
    return this.#grid(commitment!.duration!, period, service).map((window) => ({
      window,
      amount: total(
        rated
          .map((one) => ({ ...one, begins: Math.max(one.window.start, service.start) }))
          .filter(({ begins }) => window.start <= begins && begins < window.end)
          .map(({ amount }) => amount),
      ),
    }));
  }

  /** The charge period of a part as it would be without pauses. */
  #shadowOf({ unit, count }: Cadence, { period, cell }: Part): Time {
    const cells = cellsOf(period, { unit, count });
    const index = cells.findIndex((one) => one.cell.start === cell.start);
    const shadows = cellsOver(this.#clock, unit, count, period.shadow);
    // A period that begins within a calendar has its last cells.
    const isCut = this.#contract.cycle === 'calendar' && period.restarts;
    const shadow = shadows[isCut ? shadows.length - cells.length + index : index]!;
    return cut(shadow, { ...period.shadow, end: this.#shadowEnd() })!;
  }

  /** The end of the contract, without pauses. */
  #shadowEnd(): number {
    if (this.#life.end === Infinity) return Infinity;
    const last = this.periods.at(-1)!;
    const { unit, count, cycle } = this.#contract;
    if (cycle === 'calendar')
      return last.shadow.end - (cellAt(last.clock, unit, count, last.start).end - last.end);
    return last.shadow.start + (last.end - last.start) - overlap(last, last.added);
  }

  /** Money of a service for the charge periods between two instants without pauses, before its commitment. */
  #usageBefore(service: Service, start: number, end: number): Decimal {
    return total(
      this.periods
        .flatMap((period) => this.#parts(service, period))
        .filter((part) => {
          const shadow = this.#shadowOf(service, part);
          return shadow.start >= start && shadow.start < end;
        })
        .map((part) =>
          total(
            this.#billable(service, part).map(({ units }) => rate(modelOf(service, part), units)),
          ),
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
    const end = Math.min(term.end, this.#shadowEnd());
    const share = this.#contract.prorated
      ? new Decimal(end - term.start).div(term.end - term.start)
      : new Decimal(1);
    const isLast = cell.end >= end;
    const value = commitment.value.times(share);
    return committed(amount, value, before(term.start), commitment, commitment.trueUp && isLast);
  }

  /** One row for all usage: how it is shared by the lines is not told here. */
  #pooled(period: Lived, amount: Decimal): Row[] {
    const commitment = this.#contract.commitment!;
    const value = new Decimal(commitment.value);
    const { unit, count } = this.#contract;
    const outcome =
      commitment.duration !== null && roughDays(commitment.duration) > roughDays(unit, count)
        ? this.#inTerm(
            { ...commitment, value, duration: commitment.duration },
            cut(period.shadow, { ...period.shadow, end: this.#shadowEnd() })!,
            amount,
            (start) =>
              total(
                this.periods
                  .filter(
                    ({ shadow }) => shadow.start >= start && shadow.start < period.shadow.start,
                  )
                  .map((one) => this.#pooledUsage(one)),
              ),
          )
        : committed(amount, value.times(this.#stub(period)), zero, commitment, commitment.trueUp);
    const charge = outcome.within.plus(outcome.overage).plus(outcome.trueUp);
    return [
      {
        name: 'usage',
        kind: 'base',
        ...{ start: period.start, end: period.end, quantity: null },
        amount: this.#round(charge).toFixed(),
      },
    ];
  }

  #stub(period: Lived): Decimal {
    if (!this.#contract.prorated) return new Decimal(1);
    const { unit, count } = this.#contract;
    const whole = cellAt(period.clock, unit, count, period.start);
    return new Decimal(period.end - period.start - overlap(period, period.added)).div(
      whole.end - whole.start,
    );
  }

  #pooledUsage(period: Lived): Decimal {
    return total(
      this.#contract.services.flatMap((service) =>
        this.#parts(service, period).map((part) => this.#charge(service, part).amount),
      ),
    );
  }
}

/** The lines of the addons among the others. */
function withAddons(contract: Contract, periods: readonly Lived[]): Contract {
  const lines = contract.addons.map((addon) => {
    const during = { start: addon.attached, end: endOf(addon, periods) };
    const { quantity } = addon;
    return {
      fees: addon.fees.map((fee) => ({ ...fee, quantity, during })),
      services: addon.services.map((service) => ({ ...service, during })),
    };
  });
  return {
    ...contract,
    fees: [...contract.fees, ...lines.flatMap(({ fees }) => fees)],
    services: [...contract.services, ...lines.flatMap(({ services }) => services)],
  };
}

/** When an addon ends: with a period, or when that is asked for. */
function endOf({ attached, once, detached }: Addon, periods: readonly Lived[]): number {
  const at = once ? attached : (detached?.at ?? null);
  if (at === null) return Infinity;
  if (detached?.now) return at;
  return periods.find(({ start, end }) => start <= at && at < end)!.end;
}

/** Prices in a price unit are converted when they are made. */
function inCurrency(contract: Contract): Contract {
  const { currency, inUnits, fees, services } = contract;
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
  return { ...contract, fees: fees.map(priced), services: services.map(priced) };
}

const modelOf = ({ model, later }: Fee | Service, { isLater }: Pick<Part, 'isLater'>): Model =>
  isLater ? (later ?? model) : model;

const isAt = (during: Time | null, at: number): boolean =>
  during === null || (during.start <= at && at < during.end);

const NEVER: Time = { start: 0, end: 0 };

/** What a part of a period is worth; pauses that made the period longer count for neither. */
const share = (part: Time, whole: Time, added: readonly Time[]): Decimal =>
  new Decimal(part.end - part.start - overlap(part, added)).div(
    whole.end - whole.start - overlap(whole, added),
  );
