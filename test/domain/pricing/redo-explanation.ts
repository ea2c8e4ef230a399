import type {
  Explanation,
  ExplainedModel,
  ExplainedRating,
  ExplanationStep,
  ExplanationStepOf,
} from '../../../schemas/explanation.ts';
import {
  add,
  close,
  compare,
  exact,
  least,
  minus,
  most,
  NOTHING,
  over,
  rounded,
  text,
  times,
  total,
  type Exact,
} from './exact.ts';
import { redoSettlement } from '../invoicing/redo-settlement.ts';
import { priceOf } from './second-interpreter.ts';

/**
 * Redoes a line by hand: goes through its explanation and recomputes every figure from the ones before
 * it, with exact fractions and without any code of the product. Answers what does not come out, nothing
 * when the explanation is complete and right.
 */
export function redo(explanation: Explanation): string[] {
  const clerk = new Clerk();
  for (const step of explanation.steps) clerk.take(step);
  clerk.expect('amount', explanation.amount, clerk.amount);
  return [...clerk.complaints, ...redoSettlement(explanation)];
}

const MINUS_ONE: Exact = { n: -1n, d: 1n };

class Clerk {
  readonly complaints: string[] = [];
  /** Units on hand, and money on hand, as the steps so far left them. */
  quantity: Exact = NOTHING;
  amount: Exact = NOTHING;
  measured: Exact = NOTHING;
  private pooled: readonly string[] = [];
  private model: ExplainedModel | null = null;
  private outcome: { overage: Exact; trueUp: Exact; amount: Exact } | null = null;

  expect(name: string, printed: string, found: Exact): void {
    if (!close(exact(printed), found)) {
      this.complaints.push(`${name} is ${printed}, by hand ${text(found, 45)}`);
    }
  }

  take(step: ExplanationStep): void {
    switch (step.step) {
      case 'usage':
        this.measured = exact(step.quantity);
        this.quantity = most(this.measured, NOTHING);
        return;
      case 'quantity':
        this.quantity = exact(step.quantity);
        return;
      case 'allowance':
        return this.allowance(step);
      case 'quota':
        return this.quota(step);
      case 'rate':
        return this.rate(step);
      case 'pool':
        return this.pool(step);
      case 'commitment':
        return this.commitment(step);
      case 'term_commitment':
        return this.termCommitment(step);
      case 'share':
        return this.share(step);
      case 'proration':
        return this.proration(step);
      case 'net':
        this.expect('net.of', step.of, this.amount);
        this.amount = over(times(this.amount, exact(step.billed)), exact(step.gross));
        return this.expect('net.amount', step.amount, this.amount);
      case 'credit':
        return this.credit(step);
      case 'conversion':
        return this.conversion(step);
      case 'rounding':
        return this.rounding(step);
      case 'trial':
        this.amount = NOTHING;
        return;
      case 'sum':
        return this.sum(step);
      default:
        return step satisfies never;
    }
  }

  private allowance(step: ExplanationStepOf<'allowance'>): void {
    for (const [index, window] of step.windows.entries()) {
      const usage = exact(window.usage);
      const left =
        window.limit === null
          ? usage
          : most(minus(exact(window.limit), exact(window.used_before)), NOTHING);
      const free = least(left, usage);
      this.expect(`allowance.windows[${index}].free`, window.free, free);
      this.expect(`allowance.windows[${index}].billable`, window.billable, minus(usage, free));
    }
    const billable = total([
      ...step.windows.map((window) => exact(window.billable)),
      exact(step.omitted?.billable ?? '0'),
    ]);
    this.expect('allowance.billable', step.billable, billable);
    this.expect('allowance.free', step.free, most(minus(this.measured, billable), NOTHING));
    this.quantity = billable;
  }

  private quota(step: ExplanationStepOf<'quota'>): void {
    for (const [index, { quota, used, over }] of step.windows.entries())
      this.expect(
        `quota.windows[${index}].over`,
        over,
        most(minus(exact(used), exact(quota)), NOTHING),
      );
    const billable = exact(step.billable);
    this.expect('quota.free', step.free, most(minus(this.measured, billable), NOTHING));
    this.quantity = billable;
  }

  private rate(step: ExplanationStepOf<'rate'>): void {
    this.model = step.model;
    step.ratings.forEach((rating, index) => this.rating(`ratings[${index}]`, step.model, rating));
    const rest = step.omitted;
    const quantity = total([
      ...step.ratings.map((rating) => exact(rating.quantity)),
      exact(rest?.quantity ?? '0'),
    ]);
    this.expect('rate.quantity', step.quantity, quantity);
    if (step.ratings.length === 1 && rest === null) {
      this.expect('rate.quantity (one rating)', step.quantity, this.quantity);
    } else if (compare(quantity, this.quantity) < 0) {
      // Windows below zero count as nothing, so that the parts may only be more than the measured sum.
      this.complaints.push(`rate.quantity is ${step.quantity}, less than what was measured`);
    }
    this.amount = total([
      ...step.ratings.map((rating) => exact(rating.amount)),
      exact(rest?.amount ?? '0'),
    ]);
    this.expect('rate.amount', step.amount, this.amount);
  }

  private rating(name: string, model: ExplainedModel, rating: ExplainedRating): void {
    this.expect(`${name}.amount`, rating.amount, priceOf(model, exact(rating.quantity)));
    if (rating.tiers !== null) {
      for (const tier of rating.tiers) {
        const own = add(
          times(exact(tier.quantity), exact(tier.unit_amount)),
          exact(tier.flat_amount),
        );
        this.expect(`${name}.tiers[${tier.tier}].amount`, tier.amount, own);
      }
      const parts = rating.tiers.map((tier) => exact(tier.amount));
      this.expect(`${name}.amount (tiers)`, rating.amount, total(parts));
      const units = rating.tiers.map((tier) => exact(tier.quantity));
      this.expect(`${name}.quantity (tiers)`, rating.quantity, total(units));
    }
    if (rating.packages !== null && model.billing_model === 'PACKAGE') {
      const amount = times(exact(rating.packages), exact(model.package_amount));
      this.expect(`${name}.amount (packages)`, rating.amount, amount);
    }
  }

  private pool(step: ExplanationStepOf<'pool'>): void {
    if (step.index !== null) this.expect('pool.amounts', step.amounts[step.index]!, this.amount);
    this.pooled = step.amounts;
    this.amount = total(step.amounts.map(exact));
    this.expect('pool.amount', step.amount, this.amount);
  }

  private commitment(step: ExplanationStepOf<'commitment'>): void {
    let promised = exact(step.promised);
    if (step.type === 'quantity') {
      this.rating('commitment.quantity_rating', this.model!, step.quantity_rating!);
      this.expect('commitment.promised', step.quantity_rating!.quantity, promised);
      promised = exact(step.quantity_rating!.amount);
    }
    if (step.windows === null) {
      this.expect('commitment.commitment', step.commitment, shared(promised, step.share));
      this.outcomeOf('commitment', step);
    } else {
      for (const [index, window] of step.windows.entries()) {
        const name = `commitment.windows[${index}]`;
        this.expect(`${name}.commitment`, window.commitment, shared(promised, window.share));
        this.outcomeOf(name, window, step.overage_factor, step.true_up_enabled);
      }
      const all = [...step.windows, ...(step.omitted === null ? [] : [step.omitted])];
      for (const key of [
        'usage',
        'commitment',
        'utilized',
        'overage',
        'true_up',
        'amount',
      ] as const) {
        const sum = total(all.map((window) => exact(window[key])));
        this.expect(`commitment.${key}`, step[key], sum);
      }
    }
    this.expect('commitment.usage', step.usage, this.amount);
    this.keep(step);
  }

  private outcomeOf(
    name: string,
    figures: Pick<
      ExplanationStepOf<'commitment'>,
      'usage' | 'commitment' | 'utilized' | 'overage' | 'true_up' | 'amount'
    > & { overage_factor?: string; true_up_enabled?: boolean },
    factor = figures.overage_factor!,
    trueUp = figures.true_up_enabled!,
  ): void {
    const usage = exact(figures.usage);
    const promise = exact(figures.commitment);
    const above = compare(usage, promise) >= 0;
    const utilized = above ? promise : usage;
    const overage = above ? times(minus(usage, promise), exact(factor)) : NOTHING;
    const missing = !above && trueUp ? minus(promise, usage) : NOTHING;
    this.expect(`${name}.utilized`, figures.utilized, utilized);
    this.expect(`${name}.overage`, figures.overage, overage);
    this.expect(`${name}.true_up`, figures.true_up, missing);
    this.expect(`${name}.amount`, figures.amount, total([utilized, overage, missing]));
  }

  private termCommitment(step: ExplanationStepOf<'term_commitment'>): void {
    this.expect('term.usage', step.usage, this.amount);
    const usage = exact(step.usage);
    const left = most(minus(exact(step.commitment), exact(step.prior_usage)), NOTHING);
    const within = least(usage, left);
    const overage = times(minus(usage, within), exact(step.overage_factor));
    const last = step.last_period_of_term && step.true_up_enabled;
    const trueUp = last ? minus(left, within) : NOTHING;
    this.expect('term.utilized', step.utilized, within);
    this.expect('term.overage', step.overage, overage);
    this.expect('term.true_up', step.true_up, trueUp);
    this.expect('term.amount', step.amount, total([within, overage, trueUp]));
    this.keep(step);
  }

  private keep(step: { overage: string; true_up: string; amount: string }): void {
    this.outcome = {
      overage: exact(step.overage),
      trueUp: exact(step.true_up),
      amount: exact(step.amount),
    };
    this.amount = this.outcome.amount;
  }

  private share(step: ExplanationStepOf<'share'>): void {
    this.expect('share.of', step.of, this.amount);
    if (step.weights.join() !== this.pooled.join())
      this.complaints.push('share.weights are others');
    const unit = exact(`0.${'0'.repeat(step.decimals)}`.slice(0, -1) + '1');
    const minor = step.decimals === 0 ? exact('1') : unit;
    const weights = step.weights.map(exact);
    const sum = total(weights);
    if (compare(sum, NOTHING) === 0) {
      this.amount = NOTHING;
      this.expect('share.amount', step.amount, NOTHING);
      return;
    }
    const units = over(exact(step.of), minor);
    const parts = weights.map((weight) => over(times(units, weight), sum));
    const whole = parts.map((part) => part.n / part.d);
    let left = units.n / units.d - whole.reduce((a, b) => a + b, 0n);
    const order = parts
      .map((part, index) => ({ index, rest: minus(part, { n: whole[index]!, d: 1n }) }))
      .sort((a, b) => compare(b.rest, a.rest) || a.index - b.index);
    for (const { index } of order) {
      if (left === 0n) break;
      whole[index] = whole[index]! + 1n;
      left -= 1n;
    }
    this.amount = times({ n: whole[step.index]!, d: 1n }, minor);
    this.expect('share.amount', step.amount, this.amount);
  }

  private proration(step: ExplanationStepOf<'proration'>): void {
    this.expect('proration.of', step.of, this.amount);
    const length = (period: { start: string; end: string }) =>
      Date.parse(period.end) - Date.parse(period.start);
    const slice = Math.min(length(step.slice), length(step.reference));
    this.expect('proration.slice_ms', String(step.slice_ms), exact(slice));
    this.expect('proration.reference_ms', String(step.reference_ms), exact(length(step.reference)));
    this.amount = over(times(this.amount, exact(step.slice_ms)), exact(step.reference_ms));
    this.expect('proration.amount', step.amount, this.amount);
  }

  private credit(step: ExplanationStepOf<'credit'>): void {
    this.expect('credit.potential', step.potential, this.amount);
    const left = most(minus(exact(step.billed), exact(step.credited_before)), NOTHING);
    this.amount = times(most(least(this.amount, left), NOTHING), MINUS_ONE);
    this.expect('credit.amount', step.amount, this.amount);
  }

  private conversion(step: ExplanationStepOf<'conversion'>): void {
    this.expect('conversion.from_amount', step.from_amount, this.amount);
    const unrounded = times(this.amount, exact(step.factor));
    this.expect('conversion.unrounded', step.unrounded, unrounded);
    this.amount = rounded(unrounded, step.decimals);
    this.expect('conversion.amount', step.amount, this.amount);
  }

  private rounding(step: ExplanationStepOf<'rounding'>): void {
    this.expect('rounding.unrounded', step.unrounded, this.amount);
    const whole = rounded(this.amount, step.decimals);
    if (step.parts === null) {
      this.amount = whole;
    } else {
      const overage = rounded(this.outcome!.overage, step.decimals);
      const trueUp = least(rounded(this.outcome!.trueUp, step.decimals), minus(whole, overage));
      const parts = {
        charge: whole,
        utilized: minus(minus(whole, overage), trueUp),
        overage,
        true_up: trueUp,
      };
      for (const key of ['charge', 'utilized', 'overage', 'true_up'] as const) {
        this.expect(`rounding.parts.${key}`, step.parts[key], parts[key]);
      }
      this.amount = parts[step.bills];
    }
    this.expect('rounding.amount', step.amount, this.amount);
  }

  private sum(step: ExplanationStepOf<'sum'>): void {
    const amounts = step.parts.map((part, index) => {
      const clerk = new Clerk();
      for (const inner of part.steps) clerk.take(inner);
      clerk.expect('amount', part.amount, clerk.amount);
      this.model = clerk.model;
      this.complaints.push(...clerk.complaints.map((text) => `parts[${index}]: ${text}`));
      return exact(part.amount);
    });
    this.amount = total(amounts);
    this.expect('sum.amount', step.amount, this.amount);
    this.quantity = total(step.parts.map((part) => exact(part.quantity)));
    this.expect('sum.quantity', step.quantity, this.quantity);
  }
}

function shared(amount: Exact, share: { part_ms: number; whole_ms: number } | null): Exact {
  if (share === null) return amount;
  return over(times(amount, exact(share.part_ms)), exact(share.whole_ms));
}
