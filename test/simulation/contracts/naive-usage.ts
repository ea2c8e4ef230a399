import { Decimal } from '../../../domain/money.ts';
import type { Cadence, Row, Service, Use } from './contract.ts';
import {
  boundary,
  cellAt,
  cellsOver,
  cut,
  roughDays,
  type Time,
  type Unit,
} from './naive-calendar.ts';
import { active, cellsOf, overlap, type Lived } from './naive-life.ts';
import { modelOf, share, type Lines, type Part } from './naive-lines.ts';
import { gridOf, Measured } from './naive-measured.ts';
import { committed, rate, total, zero, type Outcome } from './naive-rating.ts';
import { allocated } from './naive-settlement.ts';

/** What the usage of a contract costs: rated, and held to what was promised. */
export class Usage {
  readonly #lines: Lines;
  readonly #measured: Measured;

  /** A planned end of the contract; no contract with one is paused. */
  readonly #planned: number;

  constructor(lines: Lines, uses: readonly Use[], planned: number) {
    this.#lines = lines;
    this.#planned = planned;
    this.#measured = new Measured(lines, uses);
  }

  usageRows(period: Lived): Row[] {
    const { services, commitment } = this.#lines.contract;
    const charged = services.map((service) => ({
      service,
      parts: this.#lines.parts(service, period).map((part) => this.#charge(service, part)),
    }));
    const rows = charged.flatMap(({ service, parts }) => {
      if (parts.every(({ term }) => term === null))
        return this.#lines.inGroups(
          service.name,
          'base',
          parts.map((part) => ({ ...part, amount: this.#lines.round(part.amount) })),
        );
      const base = this.#lines.inGroups(
        service.name,
        'base',
        parts.map((part) => ({ ...part, amount: this.#termRows(part.term!).within })),
      );
      const beside = parts.flatMap((part) => {
        const { overage, trueUp } = this.#termRows(part.term!);
        return [
          ...(overage.gt(0)
            ? this.#lines.inGroups(service.name, 'overage', [
                { ...part, quantity: null, amount: overage },
              ])
            : []),
          ...(trueUp.gt(0)
            ? this.#lines.inGroups(service.name, 'true_up', [
                { ...part, quantity: null, amount: trueUp },
              ])
            : []),
        ];
      });
      return [...base, ...beside];
    });
    if (commitment === null) return rows;
    const amounts = charged.flatMap(({ parts }) => parts.map(({ amount }) => amount));
    const pooled = this.#pooled(period, amounts);
    // A period that is paused from its start to its end has no rows of usage.
    const isIdle = charged.every(({ parts }) => parts.length === 0);
    return isIdle ? pooled.filter(({ amount }) => Number(amount) !== 0) : pooled;
  }

  /** What is unused at the end of a period of commitments over several periods, where true-up pays it. */
  termsAt(period: Lived): readonly { readonly name: string; readonly trueUp: Decimal }[] {
    const { services, commitment, unit, count } = this.#lines.contract;
    if (commitment !== null) {
      if (!commitment.trueUp || !isLonger(commitment.duration, { unit, count })) return [];
      const { trueUp } = this.#pooledOutcome(period, this.#pooledUsage(period));
      return [{ name: 'usage', trueUp: this.#lines.round(trueUp) }];
    }
    return services.flatMap((service) => {
      const { name, commitment: own, during } = service;
      const isHeld =
        own?.trueUp === true &&
        isLonger(own.duration, service) &&
        (during === null || (during.start <= period.end && during.end > period.end));
      if (!isHeld) return [];
      const parts = this.#lines.parts(service, period);
      const unused = parts.map((part) => this.#termRows(this.#charge(service, part).term!).trueUp);
      return [{ name, trueUp: total(unused) }];
    });
  }

  #termRows({ within, overage, trueUp }: Outcome): Outcome {
    const charge = this.#lines.round(within.plus(overage).plus(trueUp));
    const [over, up] = [this.#lines.round(overage), this.#lines.round(trueUp)];
    return { within: charge.minus(over).minus(up), overage: over, trueUp: up };
  }

  /** The unrounded charge of a part, before the commitment of the subscription. */
  #charge(service: Service, part: Part) {
    const model = modelOf(service, part);
    const windows = this.#measured.billable(service, part);
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
    const { pauses } = this.#lines.contract;
    const prorated = this.#lines.isProrated(part.period);
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
        const promise = prorated
          ? promised.times(time).div(whole)
          : isPerWindow
            ? promised
            : promised.times(this.#charged(part));
        return committed(amount, promise, zero, commitment, commitment.trueUp);
      });
    return {
      ...base,
      amount: total(terms.flatMap(({ within, overage, trueUp }) => [within, overage, trueUp])),
      term: null,
    };
  }

  /** Without prorations a cut period counts as a whole one; only phases and other lines share it by time. */
  #charged({ sold, cell, reference, period }: Part): Decimal {
    const start = sold.start === cell.start ? reference.start : sold.start;
    const end = sold.end === cell.end ? reference.end : sold.end;
    return share({ start, end }, reference, period.added);
  }

  /** Windows of a bucket in those of a shorter commitment: each in the one in which its usage begins. */
  #inDuration(
    { bucket, commitment }: Service,
    { period, service }: Part,
    rated: readonly { readonly window: Time; readonly amount: Decimal }[],
  ): readonly { readonly window: Time; readonly amount: Decimal }[] {
    if (bucket === null || commitment!.windowed) return rated;
    return gridOf(commitment!.duration!, period, service).map((window) => ({
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
    const shadows = cellsOver(period.shadowClock, unit, count, period.shadow);
    // A period that begins within a calendar has its last cells.
    const isCut = this.#lines.contract.cycle === 'calendar' && period.restarts;
    const shadow = shadows[isCut ? shadows.length - cells.length + index : index]!;
    return cut(shadow, { ...period.shadow, end: this.#shadowEnd() })!;
  }

  /** The end of the contract, without pauses. */
  #shadowEnd(): number {
    if (this.#lines.life.end === Infinity) return Infinity;
    const last = this.#lines.periods.at(-1)!;
    const { unit, count, cycle } = this.#lines.contract;
    if (cycle === 'calendar') {
      const cellOf = ({ start }: Time) => cellAt(last.clock, unit, count, start);
      const into = last.end - cellOf(last).start;
      return Math.min(cellOf(last.shadow).start + into, last.shadow.end);
    }
    const into = last.end - last.start - overlap(last, last.added);
    return Math.min(last.shadow.start + into, last.shadow.end);
  }

  /** Money of a service for the charge periods between two instants without pauses, before its commitment. */
  #usageBefore(service: Service, start: number, end: number): Decimal {
    return total(
      this.#lines.periods
        .flatMap((period) => this.#lines.parts(service, period))
        .filter((part) => {
          const shadow = this.#shadowOf(service, part);
          return shadow.start >= start && shadow.start < end;
        })
        .map((part) =>
          total(
            this.#measured
              .billable(service, part)
              .map(({ units }) => rate(modelOf(service, part), units)),
          ),
        ),
    );
  }

  /** A commitment over several periods: the first term begins with the contract, before a trial. */
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
    const first = boundary(this.#lines.clock, commitment.duration, 1, 1);
    const term =
      cell.start < first
        ? { start: this.#lines.contract.start, end: first }
        : cellAt(this.#lines.clock, commitment.duration, 1, cell.start);
    const end = Math.min(term.end, this.#shadowEnd(), this.#planned);
    const share = this.#lines.contract.prorated
      ? new Decimal(end - term.start).div(term.end - term.start)
      : new Decimal(1);
    const isLast = cell.end >= end;
    const value = commitment.value.times(share);
    return committed(amount, value, before(term.start), commitment, commitment.trueUp && isLast);
  }

  /**
   * One row for all usage: how its units are shared by the lines is not told here. Each line has its share of the part
   * within the commitment, and of that beyond (billing 6.3).
   */
  #pooled(period: Lived, amounts: readonly Decimal[]): Row[] {
    const { within, overage, trueUp } = this.#termRows(this.#pooledOutcome(period, total(amounts)));
    const { contract } = this.#lines;
    const [own, beyond] = [within, overage].map((part) => allocated(contract, part, amounts));
    const shares = [...own!.flatMap((share, index) => [share, beyond![index]!]), trueUp];
    return [
      {
        name: 'usage',
        kind: 'base',
        ...{ start: period.start, end: period.end, quantity: null },
        amount: within.plus(overage).plus(trueUp).toFixed(),
        shares: shares.map((share) => share.toFixed()),
      },
    ];
  }

  #pooledOutcome(period: Lived, amount: Decimal): Outcome {
    const commitment = this.#lines.contract.commitment!;
    const value = new Decimal(commitment.value);
    const { unit, count } = this.#lines.contract;
    return isLonger(commitment.duration, { unit, count })
      ? this.#inTerm(
          { ...commitment, value, duration: commitment.duration },
          cut(period.shadow, { ...period.shadow, end: this.#shadowEnd() })!,
          amount,
          (start) =>
            total(
              this.#lines.periods
                .filter(({ shadow }) => shadow.start >= start && shadow.start < period.shadow.start)
                .map((one) => this.#pooledUsage(one)),
            ),
        )
      : committed(amount, value.times(this.#stub(period)), zero, commitment, commitment.trueUp);
  }

  /** The share of its commitment that a period has: that of the time in which it is active. */
  #stub(period: Lived): Decimal {
    const { unit, count, pauses } = this.#lines.contract;
    if (!this.#lines.isProrated(period)) return new Decimal(1);
    const whole = cellAt(period.clock, unit, count, period.start);
    const served = total(active(period, pauses).map(({ start, end }) => new Decimal(end - start)));
    return served.div(whole.end - whole.start);
  }

  #pooledUsage(period: Lived): Decimal {
    return total(
      this.#lines.contract.services.flatMap((service) =>
        this.#lines.parts(service, period).map((part) => this.#charge(service, part).amount),
      ),
    );
  }
}

const isLonger = (duration: Unit | null, { unit, count }: Cadence): duration is Unit =>
  duration !== null && roughDays(duration) > roughDays(unit, count);
