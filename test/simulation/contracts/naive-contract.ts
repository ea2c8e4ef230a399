import { Decimal } from '../../../domain/money.ts';
import type {
  Bill,
  Block,
  Contract,
  Draft,
  LineEdit,
  Pause,
  PlanMove,
  QuantityChange,
  Reason,
  Row,
  Use,
} from './contract.ts';
import { Fees, isAt } from './naive-fees.ts';
import { grantedBlocks } from './naive-grants.ts';
import type { Lived } from './naive-life.ts';
import { Lines } from './naive-lines.ts';
import { positive, total, zero } from './naive-rating.ts';
import { isSettledAtOnce, lineOf, returnedFrom } from './naive-resumptions.ts';
import { billing, settle, type Settlement } from './naive-settlement.ts';
import { Usage } from './naive-usage.ts';

/** Drafts of usage are final so long after their period. */
export const GRACE_MS = 7_200_000;

/**
 * A second, naive account of one contract: what each of its invoices says, row by row. It shares decimals with the
 * product and nothing else: its calendar is luxon's, and it goes through all usage for every sum.
 */
export class Account {
  readonly #sold: Contract;
  readonly #uses: readonly Use[];
  readonly #lines: Lines;
  readonly #fees: Fees;
  readonly #usage: Usage;
  readonly periods: readonly Lived[];

  /** When the contract is planned to end: known to the terms of its commitments. */
  readonly #planned: number;

  constructor(contract: Contract, uses: readonly Use[], planned = Infinity) {
    this.#planned = planned;
    this.#sold = contract;
    this.#uses = uses;
    this.#lines = new Lines(contract);
    this.#fees = new Fees(this.#lines);
    this.#usage = new Usage(this.#lines, uses, planned);
    this.periods = this.#lines.periods;
  }

  /** Every invoice, and what is left in the wallet. */
  settled(): Settlement {
    return settle(this.#lines.contract, this.periods, this.drafts(), (bills) =>
      this.credited(bills),
    );
  }

  /** What comes into the wallet, some of it because of what was billed. */
  credited(issued: readonly Bill[]): Block[] {
    const { contract } = this.#lines;
    const changed = this.#changes();
    const bills = [...issued.map((bill) => bill.charges ?? bill), ...changed.unissued];
    const { addons, pauses } = contract;
    const until = this.periods.at(-1)!.end;
    return [
      ...grantedBlocks(contract, until, (at) => this.#asKnownAt(at).periods),
      ...pauses
        .filter(({ isLast }) => !isLast)
        .flatMap((pause) => this.#asKnownAt(pause.end).#fees.paused(pause, bills)),
      ...addons.flatMap((addon) =>
        this.#asKnownAt(addon.detached?.at ?? 0).#fees.detachment(addon, bills),
      ),
      ...changed.blocks,
      ...this.#cancelled(bills),
    ];
  }

  /** In order of time. */
  drafts(): Draft[] {
    const drafts = [...this.#cycles(), ...this.#attachments(), ...this.#changes().drafts];
    return this.#untilCancelled(drafts).sort((left, right) => left.drafted - right.drafted);
  }

  #attachments(): Draft[] {
    const bill = billing(this.#lines.contract, this.periods);
    return (
      this.#lines.contract.addons
        .map((addon) => this.#asKnownAt(addon.attached).#fees.attachment(addon))
        .filter((draft) => draft !== null)
        // What costs nothing in the end makes no invoice.
        .filter((draft) => !bill(draft).rows.every(({ net }) => net.isZero()))
    );
  }

  /** What changes of quantities, and of the plan within a period, charge and give back. */
  #changes(): Changed {
    const { contract, life } = this.#lines;
    const [drafts, blocks, unissued]: [Draft[], Block[], Bill[]] = [[], [], []];
    const moves = contract.moves.filter(({ at, asked }) => at <= asked && at >= life.start);
    const whenAsked = (change: (typeof changes)[number]) =>
      'byHand' in change ? change.end : 'prorated' in change ? change.asked : change.at;
    // A resumption settles edited lines again.
    const resumed =
      contract.edits.length === 0 ? [] : contract.pauses.filter(({ isLast }) => !isLast);
    const changes = [...contract.changes, ...moves, ...contract.edits, ...resumed].sort(
      (left, right) => whenAsked(left) - whenAsked(right),
    );
    if (changes.length === 0) return { drafts, blocks, unissued };
    const bills = [...this.#cycles(), ...this.#attachments()].map(billing(contract, this.periods));
    for (const change of changes) {
      const earlier = bills.filter(({ drafted }) => drafted <= whenAsked(change));
      const changed =
        'quantity' in change
          ? this.#requantified(change, earlier)
          : 'byHand' in change
            ? this.#resumed(change, earlier)
            : 'kind' in change
              ? this.#edited(change, earlier)
              : this.#moved(change, earlier);
      bills.push(...changed.bills);
      drafts.push(...changed.drafts);
      blocks.push(...changed.blocks);
      unissued.push(...changed.unissued);
    }
    return { drafts, blocks, unissued };
  }

  /** Another quantity: the rest of the period is given back and charged, whatever the contract says of prorations. */
  #requantified(
    { fee: name, at }: QuantityChange,
    earlier: readonly Bill[],
  ): Changed & { bills: Bill[] } {
    const [before, known] = [this.#asKnownAt(at - 1), this.#asKnownAt(at)];
    const unserved = before.#fees.unserved(at, earlier, false, name);
    return this.#netted(known.#lines.periodAt(at), at, known.#fees.begun(at, name), unserved);
  }

  /** Another plan, within a period. */
  #moved(
    { at, restarts, prorated }: PlanMove,
    earlier: readonly Bill[],
  ): Changed & { bills: Bill[] } {
    const { contract } = this.#lines;
    const known = this.#asKnownAt(at);
    const isProrated = prorated ?? contract.prorated;
    const period = known.#lines.periodAt(at);
    const begun = restarts ? known.#fees.advanceRows(period, isProrated) : known.#fees.begun(at);
    const unserved = isProrated
      ? this.#asKnownAt(at - 1).#fees.unserved(at, earlier, restarts)
      : { rows: [], tax: zero };
    return this.#netted(period, at, isProrated || restarts ? begun : [], unserved);
  }

  /** Another line, in advance: the old one is given back, and the new one charged, with prorations. */
  #edited(edit: LineEdit, earlier: readonly Bill[]): Changed & { bills: Bill[] } {
    const { asked, at } = edit;
    const none = { drafts: [], blocks: [], bills: [], unissued: [] };
    if (!isSettledAtOnce(this.#sold, edit)) return none;
    const [before, known] = [this.#asKnownAt(asked - 1), this.#asKnownAt(asked)];
    const name = lineOf(edit);
    const from = returnedFrom(this.#sold, edit);
    const unserved = before.#fees.unserved(from, earlier, false, name);
    const period = known.#lines.periodAt(at);
    return this.#netted(period, asked, known.#fees.begun(at, name), unserved);
  }

  /** Lines in advance that begin or end after the start of a pause, which has made the period longer. */
  #resumed(pause: Pause, earlier: readonly Bill[]): Changed & { bills: Bill[] } {
    const none = { drafts: [], blocks: [], bills: [], unissued: [] };
    const { cycle, prorated, pauses } = this.#sold;
    if (cycle === 'calendar' || !prorated) return none;
    const known = this.#asKnownAt(pause.end);
    const before = new Account(
      { ...known.#sold, pauses: pauses.filter(({ start }) => start < pause.start) },
      this.#uses,
    );
    const [period, longer] = [before, known].map((one) => one.#lines.periodAt(pause.start - 1));
    if (!longer!.added.includes(pause)) return none;
    const lost = before.#fees.lost(pause, period!, longer!, known.#fees, earlier);
    const gained = known.#fees.gained(pause, period!, longer!, before.#fees);
    return this.#netted(longer!, pause.end, gained, lost);
  }

  /** Charges and credits of a change, on an invoice or in the wallet. */
  #netted(
    period: Lived,
    at: number,
    begun: readonly Row[],
    unserved: { readonly rows: readonly Row[]; readonly tax: Decimal },
  ): Changed & { bills: Bill[] } {
    const bill = billing(this.#lines.contract, this.periods);
    const draft = { reason: 'SUBSCRIPTION_UPDATE' as const, period, drafted: at, issued: at };
    const charges = bill({ ...draft, rows: begun });
    const credit = total(unserved.rows.map(({ amount }) => new Decimal(amount))).neg();
    const net = total(charges.rows.map((row) => row.net)).minus(credit);
    // The exclusive tax of both goes with them.
    const tax = positive(
      unserved.tax.minus(charges.total).plus(charges.subtotal).minus(charges.discount),
    );
    const amount = this.#lines.round(tax.minus(net)).toFixed();
    const rows = this.#merged(unserved.rows, charges.rows);
    return {
      drafts: net.gt(0) ? [{ ...draft, rows, charges }] : [],
      blocks: net.gte(0) ? [] : [{ at, amount, priority: null, expiry: null }],
      bills: [charges],
      unissued: net.gt(0) ? [] : [charges],
    };
  }

  /** Without a discount, a credit and a charge of one line for one time are one row (billing 14.1): of an addon. */
  #merged(credits: readonly Row[], charges: readonly Row[]): Row[] {
    const { off, addons } = this.#sold;
    const names = new Set(addons.flatMap(({ fees }) => fees.map(({ name }) => name)));
    const creditOf = ({ name, start, end }: Row) =>
      off === null && names.has(name)
        ? credits.find((one) => one.name === name && one.start === start && one.end === end)
        : undefined;
    const rows = charges.map((charge) => {
      const credit = creditOf(charge);
      if (credit === undefined) return charge;
      const amount = new Decimal(charge.amount).plus(credit.amount).toFixed();
      return { ...charge, quantity: '0', amount };
    });
    const known = new Set(charges.map(creditOf));
    return [...credits.filter((credit) => !known.has(credit)), ...rows];
  }

  /** The opening, then the invoices of each period, each as far as the pauses were known when it was drafted. */
  #cycles(): Draft[] {
    const { periods: count, trial } = this.#lines.contract;
    const unpaused = this.#asKnownAt(this.#lines.life.start - 1);
    const [first] = unpaused.periods;
    const opening: Draft = {
      reason: trial > 0 ? 'SUBSCRIPTION_TRIAL_END' : 'SUBSCRIPTION_CREATE',
      ...{ period: first!, drafted: first!.start, issued: first!.start },
      rows: unpaused.#fees.advanceRows(first!),
    };
    const drafts = this.periods.slice(0, count).flatMap(({ closed: drafted }, index): Draft[] => {
      const known = this.#asKnownAt(drafted);
      const next = known.periods[index + 1];
      const advances = next === undefined || next.restarts ? [] : known.#fees.advanceRows(next);
      // Where a pause begins with the end of the period, its own end is not known yet (billing 6.4, 12.4).
      const closing = this.#asKnownAt(drafted, drafted - 1);
      const period = closing.periods[index]!;
      if (period.cutBy !== null) return [closing.#closing(period, 'PRORATION', drafted, [])];
      const cycle = closing.#closing(period, 'SUBSCRIPTION_CYCLE', drafted, advances);
      if (next?.restarts !== true) return [cycle];
      const { start } = next;
      // Lines may have changed in the pause.
      const resumed = this.#asKnownAt(start);
      const rows = resumed.#fees.advanceRows(resumed.periods[index + 1]!);
      const begun: Draft = {
        ...{ reason: 'SUBSCRIPTION_UPDATE', period: next, drafted: start, issued: start, rows },
      };
      return [cycle, begun];
    });
    return [opening, ...drafts];
  }

  /** Arrears and usage of a period, beside advances of the next one. */
  #closing(period: Lived, reason: Reason, drafted: number, advances: readonly Row[]): Draft {
    const usage = this.#usage.usageRows(period);
    return {
      ...{ reason, period, drafted },
      issued: Math.max(drafted, period.end + GRACE_MS),
      rows: [...advances, ...this.#fees.arrearRows(period), ...usage],
    };
  }

  /** The drafts before a cancellation, and the one that it makes. */
  #untilCancelled(drafts: readonly Draft[]): Draft[] {
    const { cancelled } = this.#sold;
    if (cancelled === null) return [...drafts];
    const { at, invoiced } = cancelled;
    const earlier = drafts.filter(({ drafted }) => drafted < at);
    if (at <= this.#lines.life.start || !invoiced) return earlier;
    if (this.#lines.findPeriodAt(at - 1) === undefined)
      return [...earlier, ...this.#endedTerms(cancelled)];
    // One that comes in a pause ends both. At the end of the period as it was before the pause, the period is whole.
    const isInPause = this.#sold.pauses.some(({ isLast }) => isLast);
    const isWithin = this.#paid().#lines.periodAt(at - 1).end > at;
    const own = isInPause || isWithin ? cancelled.prorated : null;
    const prorated = own ?? this.#sold.prorated;
    const ended = new Account({ ...this.#sold, end: at, prorated, cancelled: null }, this.#uses);
    const drafted = Math.max(at, cancelled.asked);
    const reason = isWithin ? 'PRORATION' : 'SUBSCRIPTION_CYCLE';
    return [...earlier, ended.#closing(ended.#lines.periodAt(at - 1), reason, drafted, [])];
  }

  /** What is unused of terms, if the contract ends in a pause from the end of a period: the pause ends them too. */
  #endedTerms({ at, asked, prorated }: NonNullable<Contract['cancelled']>): Draft[] {
    const { start } = this.#sold.pauses.find(({ isLast }) => isLast)!;
    const closed = this.#asKnownAt(start, start - 1);
    const pauses = this.#sold.pauses.filter(({ isLast }) => !isLast);
    const sold = { ...this.#sold, pauses, end: start, cancelled: null };
    const ended = new Account({ ...sold, prorated: prorated ?? sold.prorated }, this.#uses);
    const billed = closed.#usage.termsAt(closed.#lines.periodAt(start - 1));
    const owed = ended.#usage.termsAt(ended.#lines.periodAt(start - 1));
    const rows = owed.flatMap(({ name, trueUp }, index): Row[] => {
      const left = billed[index]!.trueUp.isZero() ? trueUp : zero;
      const own = { name, start, end: at };
      const unpaid = { ...own, quantity: null, amount: left.toFixed() };
      if (name === 'usage') return left.isZero() ? [] : [{ ...unpaid, kind: 'base' }];
      const unused: Row = { ...own, kind: 'base', quantity: '0', amount: '0' };
      return left.isZero() ? [unused] : [unused, { ...unpaid, kind: 'true_up' }];
    });
    if (rows.length === 0) return [];
    const drafted = Math.max(at, asked);
    const period = { ...ended.#lines.periodAt(start - 1), start, end: at };
    return [
      { reason: 'PRORATION', period, drafted, issued: Math.max(drafted, at + GRACE_MS), rows },
    ];
  }

  /** The account without the pause in which the contract ends: what is not resumed moves nothing. */
  #paid(): Account {
    const pauses = this.#sold.pauses.filter(({ isLast }) => !isLast);
    const isAll = pauses.length === this.#sold.pauses.length;
    return isAll ? this : new Account({ ...this.#sold, pauses }, this.#uses, this.#planned);
  }

  /** What a cancellation within a period gives back. */
  #cancelled(bills: readonly Bill[]): Block[] {
    const { cancelled } = this.#sold;
    if (cancelled === null || cancelled.at < this.#lines.life.start) return [];
    const { at, asked, prorated } = cancelled;
    // Advances of a pause that it ends are given back too, also at the end of the period (billing 12.8).
    const pause = this.#sold.pauses.find(({ isLast }) => isLast);
    if (pause === undefined && this.#lines.findPeriodAt(at)?.start === at) return [];
    const from = pause?.start ?? at;
    const unused = { start: from, end: Infinity };
    const fees = this.#lines.contract.fees.filter(({ during }) => isAt(during, from));
    return this.#paid().#fees.returned(fees, unused, Math.max(at, asked), prorated, bills);
  }

  /**
   * The account without pauses, changes, ends of addons and cancellations of which an instant does not know. `paused`:
   * pauses that begin after it are not known.
   */
  #asKnownAt(instant: number, paused = instant): Account {
    const { pauses, moves, changes, edits, cancelled } = this.#sold;
    const addons = this.#sold.addons.map((addon) =>
      addon.detached !== null && addon.detached.at > instant ? { ...addon, detached: null } : addon,
    );
    const begun = pauses.filter(({ start }) => start <= paused);
    const moved = moves.filter(({ at }) => at <= Math.max(instant, this.#lines.life.start));
    const changed = changes.filter(({ at }) => at <= instant);
    const edited = edits.filter(({ asked }) => asked <= instant);
    const isPlanned = cancelled !== null && cancelled.type !== 'immediate';
    const planned = isPlanned && cancelled.asked <= instant ? cancelled.at : Infinity;
    const knowsAll =
      begun.length === pauses.length &&
      moved.length === moves.length &&
      changed.length === changes.length &&
      edited.length === edits.length &&
      addons.every((addon, index) => addon === this.#sold.addons[index]);
    return knowsAll && planned === this.#planned
      ? this
      : new Account(
          { ...this.#sold, pauses: begun, moves: moved, changes: changed, edits: edited, addons },
          this.#uses,
          planned,
        );
  }
}

/** What changes charge, and what they give back. */
interface Changed {
  readonly drafts: Draft[];
  readonly blocks: Block[];
  /** Charges that credits cover: they are on no invoice, and can be given back. */
  readonly unissued: Bill[];
}
