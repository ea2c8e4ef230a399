import { Decimal } from '../../../domain/money.ts';
import type { Bill, Block, Draft, Fee, Row } from './contract.ts';
import { cut, type Time } from './naive-calendar.ts';
import { active, cellsOf, type Lived } from './naive-life.ts';
import { modelOf, share, type Lines, type Part } from './naive-lines.ts';
import { rate, total, zero } from './naive-rating.ts';

/** What the fees of a contract cost, and what changes charge and credit of them at once. */
export class Fees {
  readonly #lines: Lines;

  constructor(lines: Lines) {
    this.#lines = lines;
  }

  /** Fees of a period that is about to begin; ends of addons in it are not known yet. */
  advanceRows(period: Lived): Row[] {
    return this.#lines.contract.fees
      .filter(({ advance, during }) => advance && isAt(during, period.start))
      .flatMap((fee) => {
        const parts = this.#lines.parts({ ...fee, during: null }, period);
        return this.#lines.inGroups(
          fee.name,
          'base',
          parts.map((part) => this.#feeRow(fee, part)),
        );
      });
  }

  arrearRows(period: Lived): Row[] {
    const { fees, pauses, cycle } = this.#lines.contract;
    return fees
      .filter(({ advance }) => !advance)
      .flatMap((fee) => {
        const parts = this.#lines.parts(fee, period).flatMap((part) =>
          // A calendar is paid for the time that was served, a longer period as a whole.
          cycle === 'calendar'
            ? active(part.service, pauses).map((service) => ({ ...part, service }))
            : [pauses.length === 0 ? part : { ...part, service: part.cell }],
        );
        return this.#lines.inGroups(
          fee.name,
          'base',
          parts.map((part) => this.#feeRow(fee, part)),
        );
      });
  }

  #feeRow(
    fee: Fee,
    { period, reference, cell, service, isLater }: Part,
    prorated = this.#lines.contract.prorated,
  ) {
    const model = modelOf(fee, { isLater });
    const quantity = new Decimal(fee.quantity);
    // Without prorations a cut period costs as much as a whole one; phases share it by time.
    const start = !prorated && service.start === cell.start ? reference.start : service.start;
    const end = !prorated && service.end === cell.end ? reference.end : service.end;
    const amount = rate(model, quantity).times(share({ start, end }, reference, period.added));
    return { ...service, isLater, quantity, amount: this.#lines.round(amount) };
  }

  /** What attached addons cost at once: the rest of their advances. */
  attachments(): Draft[] {
    return this.#lines.contract.addons.flatMap(({ attached, prorated, fees }): Draft[] => {
      const period = this.#lines.periods.find(
        ({ start, end }) => start <= attached && attached < end,
      )!;
      const names = new Set(fees.map(({ name }) => name));
      const rows = this.#lines.contract.fees
        .filter(({ advance, name }) => advance && names.has(name))
        .flatMap((fee) => {
          const during = { start: attached, end: Infinity };
          return this.#lines.parts({ ...fee, during }, period).map((part) => {
            const { start, end, quantity, amount } = this.#feeRow(fee, part, true);
            const kind = 'base' as const;
            return {
              ...{ name: fee.name, kind, start, end },
              ...{ quantity: quantity.toFixed(), amount: amount.toFixed() },
            };
          });
        });
      if (!(prorated ?? this.#lines.contract.prorated)) return [];
      if (rows.every(({ amount }) => Number(amount) === 0)) return [];
      const reason = 'SUBSCRIPTION_UPDATE';
      return [{ reason, period, drafted: attached, issued: attached, rows }];
    });
  }

  /** What is credited for advances of addons that end before them. */
  detachments(bills: readonly Bill[]): Block[] {
    return this.#lines.contract.addons.flatMap(({ detached, prorated, fees }): Block[] => {
      if (detached?.now !== true || !(prorated ?? this.#lines.contract.prorated)) return [];
      const { at } = detached;
      const period = this.#lines.periods.find(({ start, end }) => start <= at && at < end)!;
      const names = new Set(fees.map(({ name }) => name));
      const rows = bills.flatMap((one) => one.rows);
      const credits = this.#lines.contract.fees
        .filter(({ advance, name }) => advance && names.has(name))
        .flatMap((fee) =>
          cellsOf(period, fee).map(({ reference, cell }) => {
            const unused = cut(cell, { start: at, end: Infinity });
            if (unused === null) return zero;
            const isOne = this.#lines.contract.grouped && cellsOf(period, fee).length > 1;
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
            const credit = Decimal.min(this.#lines.round(part), net);
            const tax = total(charged.map((row) => row.tax));
            return credit.plus(
              credit.eq(net) ? tax : this.#lines.round(tax.times(credit).div(net)),
            );
          }),
        );
      const amount = this.#lines.round(total(credits)).toFixed();
      return [{ at, amount, priority: null, expiry: null }];
    });
  }

  /** What is credited for pauses on a calendar with prorations, when they end. */
  credited(): Block[] {
    const { cycle, prorated, pauses, fees } = this.#lines.contract;
    if (cycle === 'anniversary' || !prorated) return [];
    return pauses.flatMap(({ start, end }): Block[] => {
      const period = this.#lines.periods.find((one) => one.start <= start && start < one.end);
      if (period === undefined) return [];
      const earlier = pauses.filter((pause) => pause.start <= period.start);
      const amounts = fees
        .filter(({ advance }) => advance)
        .flatMap((fee) =>
          cellsOf(period, fee).flatMap(({ reference, cell }) => {
            const unused = active(cell, earlier).map((part) => cut(part, { start, end }))[0];
            if (unused == null) return [];
            const each = rate(fee.model, new Decimal(fee.quantity));
            return [this.#lines.round(each.times(share(unused, reference, [])))];
          }),
        );
      return [{ at: end, amount: total(amounts).toFixed(), priority: null, expiry: null }];
    });
  }
}

const isAt = (during: Time | null, at: number): boolean =>
  during === null || (during.start <= at && at < during.end);
