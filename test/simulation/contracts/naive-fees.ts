import { Decimal } from '../../../domain/money.ts';
import {
  FACTOR,
  type Addon,
  type Bill,
  type BilledRow,
  type Block,
  type Draft,
  type Fee,
  type Pause,
  type Row,
} from './contract.ts';
import { cut, type Time } from './naive-calendar.ts';
import { active, cellsOf, overlap, type Lived } from './naive-life.ts';
import { modelOf, NEVER, share, type Lines, type Part } from './naive-lines.ts';
import { rate, total, zero } from './naive-rating.ts';
import { isResettled } from './naive-resumptions.ts';

/** What the fees of a contract cost, and what changes charge and credit of them at once. */
export class Fees {
  readonly #lines: Lines;

  constructor(lines: Lines) {
    this.#lines = lines;
  }

  /** Fees of a period that is about to begin; ends of addons in it are not known yet. */
  advanceRows(period: Lived, prorated = this.#lines.isProrated(period)): Row[] {
    const { fees, addons } = this.#lines.contract;
    const ofAddons = new Set(addons.flatMap((addon) => addon.fees.map(({ name }) => name)));
    return fees
      .filter(({ advance }) => advance)
      .filter(
        ({ during, name }) =>
          isAt(during, period.start) || (!ofAddons.has(name) && cut(during!, period) !== null),
      )
      .flatMap((fee) => {
        const isCut = !ofAddons.has(fee.name);
        const parts = this.#lines.parts(isCut ? fee : { ...fee, during: null }, period);
        return this.#lines.inGroups(
          fee.name,
          'base',
          parts.map((part) => this.#feeRow(fee, part, prorated)),
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
            : [pauses.length === 0 ? part : { ...part, service: part.sold }],
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
    prorated = this.#lines.isProrated(period),
  ) {
    const model = modelOf(fee, { isLater });
    const quantity = new Decimal(fee.quantity);
    // Without prorations a cut period costs as much as a whole one; phases and plans share it by time.
    const start = !prorated && service.start === cell.start ? reference.start : service.start;
    const isWhole = service.end === cell.end && period.cutBy === null;
    const end = !prorated && isWhole ? reference.end : service.end;
    const amount = rate(model, quantity).times(share({ start, end }, reference, period.added));
    return { ...service, isLater, quantity, amount: this.#lines.round(amount) };
  }

  /** What an attached addon costs at once: the rest of its advances; null: nothing. */
  attachment({ attached, prorated, fees }: Addon): Draft | null {
    const period = this.#lines.findPeriodAt(attached);
    // Nothing is charged in a trial.
    if (period === undefined) return null;
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
    if (!(prorated ?? this.#lines.contract.prorated)) return null;
    if (rows.every(({ amount }) => Number(amount) === 0)) return null;
    const reason = 'SUBSCRIPTION_UPDATE';
    return { reason, period, drafted: attached, issued: attached, rows };
  }

  /** Advances that run at an instant: those of the plan, or those of addons too. */
  #running(at: number, withAddons: boolean, only: string | null): Fee[] {
    const { fees, addons } = this.#lines.contract;
    const ofAddons = new Set(addons.flatMap((addon) => addon.fees.map(({ name }) => name)));
    return fees
      .filter(({ advance, during }) => advance && isAt(during, at))
      .filter(({ name }) => (withAddons || !ofAddons.has(name)) && name === (only ?? name));
  }

  /** The advances of the running plan, period or fee that a change of it gives back: rows, and the tax on them. */
  unserved(
    at: number,
    bills: readonly Bill[],
    ofPeriod: boolean,
    only: string | null = null,
  ): { readonly rows: Row[]; readonly tax: Decimal } {
    const period = this.#lines.periodAt(at);
    const billed = bills.flatMap(({ rows }) => rows).filter(({ kind }) => kind === 'base');
    const credits = this.#running(at, ofPeriod, only).flatMap((fee) =>
      this.#credits(fee, period, { start: at, end: Infinity }, billed).map((one) => ({
        ...one,
        name: fee.name,
      })),
    );
    return {
      rows: credits.map(({ name, credit, start, end }) => ({
        ...{ name, kind: 'credit' as const, start, end, quantity: null },
        amount: credit.neg().toFixed(),
      })),
      tax: total(credits.map(({ tax }) => tax)),
    };
  }

  /** The advances of a plan or fee for the rest of the period in which it begins, one row for each cell. */
  begun(at: number, only: string | null = null): Row[] {
    const period = this.#lines.periodAt(at);
    return this.#running(at, false, only).flatMap((fee) =>
      this.#lines.parts(fee, period).map((part): Row => {
        const { start, end, quantity, amount } = this.#feeRow(fee, part, true);
        const texts = { quantity: quantity.toFixed(), amount: amount.toFixed() };
        return { name: fee.name, kind: 'base', start, end, ...texts };
      }),
    );
  }

  /** What fees serve less of a period that a pause has made longer: rows, and the tax on them. */
  lost(pause: Pause, period: Lived, longer: Lived, known: Fees, bills: readonly Bill[]) {
    const billed = bills.flatMap(({ rows }) => rows).filter(({ kind }) => kind === 'base');
    const credits = this.#resettled(pause, period, longer, this, known).flatMap(
      ({ fee, cell, less, time }) =>
        less <= 0
          ? []
          : this.#credits(
              { ...fee, during: null },
              period,
              { start: time!.end - less, end: time!.end },
              billed.filter(({ start }) => start >= (fee.during?.start ?? -Infinity)),
            )
              .filter(({ start }) => cell.start <= start && start < cell.end)
              .map((one) => ({ ...one, name: fee.name })),
    );
    return {
      rows: credits.map(({ name, credit, start, end }) => ({
        ...{ name, kind: 'credit' as const, start, end, quantity: null },
        amount: credit.neg().toFixed(),
      })),
      tax: total(credits.map(({ tax }) => tax)),
    };
  }

  /** What fees serve more of a period that a pause has made longer. */
  gained(pause: Pause, period: Lived, longer: Lived, before: Fees): Row[] {
    return this.#resettled(pause, period, longer, before, this).flatMap(
      ({ fee, less, later, part }): Row[] => {
        if (less >= 0) return [];
        const service = { start: later!.end + less, end: later!.end };
        const row = this.#feeRow(fee, { ...part, service }, true);
        const [quantity, amount] = [row.quantity.toFixed(), row.amount.toFixed()];
        return [{ name: fee.name, kind: 'base', ...service, quantity, amount }];
      },
    );
  }

  /** The cells of the fees that a resumption settles again, with the time that they serve before and after it. */
  #resettled(pause: Pause, period: Lived, longer: Lived, before: Fees, known: Fees) {
    const { contract } = known.#lines;
    return contract.fees
      .filter((fee) => fee.advance && isResettled(contract, fee, pause, period, longer))
      .flatMap((fee) => {
        const cells = cellsOf(longer, fee);
        return cellsOf(period, fee).map(({ cell }, index) => {
          const { reference, cell: moved } = cells[index]!;
          const [time, later] = [cell, moved].map((one) => cut(one, fee.during ?? one));
          const ms = (one: Time | null, added: readonly Time[]) =>
            one === null ? 0 : one.end - one.start - overlap(one, added);
          const less = ms(time!, period.added) - ms(later!, longer.added);
          const part = { period: longer, reference, cell: moved, sold: moved, isLater: false };
          return { fee, cell, time, later, less, part };
        });
      });
  }

  /** What is credited for the advances of an addon that ends before them. */
  detachment({ detached, prorated, fees }: Addon, bills: readonly Bill[]): Block[] {
    if (detached?.now !== true) return [];
    const names = new Set(fees.map(({ name }) => name));
    const own = this.#lines.contract.fees.filter(({ name }) => names.has(name));
    return this.returned(own, { start: detached.at, end: Infinity }, detached.at, prorated, bills);
  }

  /** What is credited for a pause on a calendar with prorations, when it ends. */
  paused({ start, end }: Pause, bills: readonly Bill[]): Block[] {
    const { cycle, fees } = this.#lines.contract;
    if (cycle === 'anniversary') return [];
    const running = fees.filter(({ during }) => during === null || cut(during, { start, end }));
    return this.returned(running, { start, end }, end, null, bills);
  }

  /** What was billed in advance for a time of the period in which it begins, given back at an instant. */
  returned(
    fees: readonly Fee[],
    unused: Time,
    at: number,
    prorated: boolean | null,
    bills: readonly Bill[],
  ): Block[] {
    if (!(prorated ?? this.#lines.contract.prorated)) return [];
    const period = this.#lines.findPeriodAt(unused.start);
    if (period === undefined) return [];
    const rows = bills
      .filter(({ drafted }) => drafted <= at)
      .flatMap((one) => one.rows)
      .filter(({ kind }) => kind === 'base');
    const credits = fees
      .filter(({ advance }) => advance)
      .map((fee) => this.#returnedOf(fee, period, unused, rows));
    const amount = this.#lines.round(total(credits)).toFixed();
    return [{ at, amount, priority: null, expiry: null }];
  }

  /** Of one fee: its price for the time, as far as it was charged, with the tax on it. */
  #returnedOf(fee: Fee, period: Lived, unused: Time, rows: readonly BilledRow[]): Decimal {
    const credits = this.#credits(fee, period, unused, rows);
    return total(credits.map(({ credit, tax }) => credit.plus(tax)));
  }

  #credits(fee: Fee, period: Lived, unused: Time, rows: readonly BilledRow[]) {
    const cells = cellsOf(period, fee);
    // Later cells were paid for another quantity too, which the change has given back. A row of a change has none or 0.
    const isOfQuantity = ({ quantity }: BilledRow) =>
      quantity === null || quantity === '0' || Number(quantity) === fee.quantity;
    const isOne = this.#lines.contract.grouped && cells.length > 1;
    const earlier = this.#lines.contract.pauses.filter(({ start }) => start <= period.start);
    const from = Math.max(period.start, fee.during?.start ?? -Infinity);
    const own = rows.filter(
      ({ name, start }) => name === fee.name && start >= from && start < period.end,
    );
    const all = cells.flatMap((cell, index) =>
      this.#lines.phases(fee).map((phase) => ({ ...cell, index, phase })),
    );
    return all.flatMap(({ reference, cell, index, phase: { time: phase, isLater } }) => {
      const served = cut(active(cell, earlier)[0] ?? NEVER, phase) ?? undefined;
      // A line that ends where its time is given back was to serve all of it.
      const isKnown = fee.during !== null && fee.during.end > unused.start;
      const time = isKnown ? cut(unused, fee.during!) : unused;
      const rest = served === undefined || time === null ? null : cut(served, time);
      if (rest === null) return [];
      // What was charged for other terms of the fee is not given back with these.
      const charged = own
        .filter(({ start }) => phase.start <= start && start < phase.end)
        .filter(
          (row) => isOne || (isOfQuantity(row) && this.#paidCell(fee, period, row) === index),
        );
      const gross = total(charged.map(({ own: one }) => one.amount));
      const net = total(charged.map(({ own: one }) => one.net));
      if (gross.isZero()) return [];
      const price = rate(modelOf(fee, { isLater }), new Decimal(fee.quantity)).times(
        share(rest, reference, period.added),
      );
      const part = Decimal.min(this.#lines.round(price.times(net).div(gross)), net);
      if (part.isZero()) return [];
      const taxes = total(charged.map((row) => row.tax));
      const tax = part.eq(net) ? taxes : this.#lines.round(taxes.times(part).div(net));
      return [{ ...rest, credit: this.#inMoney(part), tax }];
    });
  }

  /** What is credited in a custom currency is converted and rounded like a row that is charged (money 12.5). */
  #inMoney(credit: Decimal): Decimal {
    return this.#lines.contract.currency === 'crx'
      ? this.#lines.round(credit.times(FACTOR))
      : credit;
  }

  /** The number of the cell that a row paid: later pauses have moved the cells since. */
  #paidCell(fee: Fee, period: Lived, { start, end }: Time): number {
    for (let known = period.added.length; known >= 0; known -= 1) {
      const [added, later] = [period.added.slice(0, known), period.added.slice(known)];
      const shorter = { ...period, added, end: period.end - overlap(period, later) };
      const index = cellsOf(shorter, fee).findIndex(
        ({ reference }) => reference.start <= start && end <= reference.end,
      );
      if (index >= 0) return index;
    }
    return cellsOf(period, fee).findIndex(({ cell }) => cell.start <= start && start < cell.end);
  }
}

export const isAt = (during: Time | null, at: number): boolean =>
  during === null || (during.start <= at && at < during.end);
