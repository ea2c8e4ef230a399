import type { Decimal } from '../../../domain/money.ts';
import type { Bucket, Time, Unit } from './naive-calendar.ts';

/** What may be special about a contract, alone or together. */
export const TRAITS = ['pauses', 'addons', 'grants', 'families', 'units', 'windows'] as const;
export type Trait = (typeof TRAITS)[number];

/** Kinds of contracts take turns over the seeds; a mixed one has two or three traits. */
export const KINDS = [
  'plain', 'mixed', 'ends', 'changes', 'plans', 'quotas', ...TRAITS, 'groups', 'amended', 'lines', 'trials', 'paused lines',
  'trial phases', 'paused ends', 'everything', 'rates', 'limits',
  'previews', 'plan quotas', 'phase addons', 'group previews', 'drafts', 'paused quotas', 'unit ends', 'versions',
] as const; // prettier-ignore
export type Kind = (typeof KINDS)[number];

export type Model =
  | { readonly kind: 'flat'; readonly each: string }
  | { readonly kind: 'package'; readonly size: number; readonly each: string }
  | {
      readonly kind: 'slab' | 'volume';
      readonly tiers: readonly {
        readonly upTo: number | null;
        readonly each: string;
        readonly flat: string;
      }[];
    };

/** How often a price charges. */
export interface Cadence {
  readonly unit: Unit;
  readonly count: number;
}

/** The time of a line. Null: as long as the contract. */
export interface Line extends Cadence {
  readonly name: string;
  readonly during: Time | null;
  /** It is of no phase: a phase does not cut it. */
  readonly isOfAddon?: boolean;
}

export interface Fee extends Line {
  readonly advance: boolean;
  readonly quantity: number;
  readonly model: Model;
  /** From the second phase on; null: as before. */
  readonly later: Model | null;
}

export interface LineCommitment {
  readonly type: 'amount' | 'quantity';
  readonly value: string;
  readonly factor: string;
  readonly trueUp: boolean;
  /** In each window of the bucket. */
  readonly windowed: boolean;
  /** Null: in each charge period. */
  readonly duration: Unit | null;
}

/** Usage that is free in each window; a window begins with the first usage that none covers, or with its unit. */
export interface Quota {
  readonly units: number;
  readonly length: number;
  readonly unit: 'hour' | 'day' | 'week' | 'subscription_period';
  readonly withUnit: boolean;
}

/** Usage that is free in each reset window. A limit of null: all of it. */
export interface Free {
  readonly limit: number | null;
  readonly reset: Unit | 'NEVER' | null;
  readonly isSoft: boolean;
  /** In windows of time instead of a limit. */
  readonly quota: Quota | null;
  /** What the subscription has instead of the limit of the plan, or beside it. */
  readonly own: { readonly limit: number | null; readonly replaces: boolean } | null;
}

export interface Service extends Line {
  readonly model: Model;
  readonly later: Model | null;
  /** The greatest value counts, otherwise the sum. */
  readonly max: boolean;
  readonly bucket: { readonly size: Bucket } | null;
  readonly free: Free | null;
  readonly commitment: LineCommitment | null;
}

export interface Tax {
  readonly percent: string;
  readonly inclusive: boolean;
}

/** A time in which nothing is billed. */
export interface Pause extends Time {
  readonly mode: 'immediate' | 'scheduled' | 'period_end';
  /** It ends by a request, not at a time that was said at its start. */
  readonly byHand: boolean;
  /** When that request was made, if it was made before the end. */
  readonly planned: number | null;
  /** The contract is cancelled in it: nothing resumes. */
  readonly isLast: boolean;
}

/** The end of a trial is moved, or comes at once: then both instants are one. */
export interface TrialMove {
  readonly asked: number;
  readonly end: number;
}

/** The end of a contract before its time. */
export interface Cancellation {
  readonly type: 'immediate' | 'end_of_period' | 'scheduled_date';
  readonly asked: number;
  /** When it takes effect; before the request if it is dated back. */
  readonly at: number;
  /** Null: as the contract. */
  readonly prorated: boolean | null;
  /** Whether usage and arrears of the last period are billed. */
  readonly invoiced: boolean;
}

/** Another limit of a service of the subscription alone. */
export interface LimitChange {
  readonly service: string;
  readonly at: number;
  /** Null: unlimited. */
  readonly limit: number | null;
}

/** Another quantity of a fee, from an instant on. */
export interface QuantityChange {
  readonly fee: string;
  readonly at: number;
  readonly quantity: number;
}

/** A change of the plan; the old plan has the time before it. */
export interface PlanMove {
  readonly fees: readonly Fee[];
  readonly services: readonly Service[];
  readonly asked: number;
  /** When it takes effect: at once, or at the end of the period. */
  readonly at: number;
  /** A new period begins with it. */
  readonly restarts: boolean;
  /** Null: as the contract. */
  readonly prorated: boolean | null;
  /** Asked for in the earlier form of the request. */
  readonly isEarlierForm: boolean;
  /** When a change to it for the end of the period was asked for, which this one supersedes. Null: none was. */
  readonly supersedes: number | null;
}

/** A line of the subscription alone: a new one, other terms of one, or its end. It counts from `at` on. */
export type LineEdit = {
  /** In the period of `at`, before or after it. */
  readonly asked: number;
  readonly at: number;
  /** Null: as the contract. */
  readonly prorated: boolean | null;
} & (
  | { readonly kind: 'fee'; readonly fee: Fee }
  | { readonly kind: 'service'; readonly service: Service }
  | {
      readonly kind: 'terms';
      readonly line: string;
      readonly model: Model;
      /** The price of the plan changes at `at`, and reaches the subscription with a sync. */
      readonly version?: { readonly at: number; readonly synced: number };
    }
  | { readonly kind: 'end'; readonly line: string }
);

/** Credits that the plan or the subscription gives. */
export interface Grant {
  readonly credits: string;
  /** Money of one credit. */
  readonly rate: string;
  /** Null: once. */
  readonly every: Cadence | null;
  readonly expires:
    'NEVER' | 'BILLING_CYCLE' | { readonly unit: 'DAY' | 'WEEK' | 'MONTH'; readonly count: number };
  readonly priority: number | null;
}

/** A limit, or in windows of time the units of a quota. */
export interface Allowance extends Pick<Free, 'limit' | 'reset' | 'quota'> {
  readonly service: string;
}

/** One instance of an addon. */
export interface Addon {
  readonly fees: readonly Fee[];
  readonly services: readonly Service[];
  readonly quantity: number;
  /** What one unit of it makes free of services of the plan, beside what the plan does. */
  readonly allowances: readonly Allowance[];
  readonly attached: number;
  /** It ends with the period in which it is attached. */
  readonly once: boolean;
  readonly detached: { readonly at: number; readonly now: boolean } | null;
  /** Whether its attachment and its end are prorated. Null: as the contract. */
  readonly prorated: boolean | null;
}

/** A customer who uses the subscription of another one. */
export interface Member {
  /** Null: from the start. */
  readonly joins: number | null;
  readonly leaves: number | null;
}

export interface Contract extends Cadence {
  readonly kind: Kind;
  readonly zone: string;
  readonly start: number;
  /** Days before anything is billed. */
  readonly trial: number;
  /** What asks for the trial: days or dates of the contract, or days of its prices. */
  readonly trialOf: 'days' | 'prices' | Time;
  /** In order of time. */
  readonly trialMoves: readonly TrialMove[];
  readonly end: number | null;
  readonly cancelled: Cancellation | null;
  readonly cycle: 'anniversary' | 'calendar';
  /** Of an anniversary subscription, if it is not its start. */
  readonly anchor: number | null;
  readonly prorated: boolean;
  readonly grouped: boolean;
  readonly currency: 'usd' | 'jpy' | 'crx';
  readonly fees: readonly Fee[];
  readonly services: readonly Service[];
  /** When the second phase begins. */
  readonly phase: number | null;
  /** In order of time. */
  readonly pauses: readonly Pause[];
  readonly commitment: {
    readonly value: string;
    readonly factor: string;
    readonly trueUp: boolean;
    readonly duration: Unit | null;
  } | null;
  /** Percent off everything in the first periods; null periods: forever. */
  readonly off: {
    readonly percent: number;
    readonly periods: number | null;
    /** It is a coupon of one of the phases. */
    readonly phase?: 'first' | 'second';
  } | null;
  /** Off one of the lines, before what is off everything. */
  readonly lineOff: LineOff | null;
  readonly taxes: readonly Tax[];
  /** Money of a prepaid wallet in the currency of the invoices. */
  readonly credits: number;
  /** Money of one credit of it. */
  readonly creditRate: string;
  /** In order of time; each counts for all of the period in which it is made (billing 4.7). */
  readonly limits: readonly LimitChange[];
  /** At most one for each fee. */
  readonly changes: readonly QuantityChange[];
  /** In order of time. */
  readonly moves: readonly PlanMove[];
  readonly addons: readonly Addon[];
  /** In order of time. */
  readonly edits: readonly LineEdit[];
  /** Prices are in a price unit. */
  readonly inUnits: boolean;
  /** Their usage counts like that of the customer. */
  readonly members: readonly Member[];
  /** Another customer pays the invoices, with taxes and credits of its own. */
  readonly isDelegated: boolean;
  readonly grants: readonly Grant[];
  /** The plan has the grants; otherwise the request for the subscription. */
  readonly grantsOfPlan: boolean;
  /** How many periods are lived. */
  readonly periods: number;
}

/** A coupon of a line. */
export interface LineOff {
  readonly line: string;
  readonly percent: number;
  /** Replaces the percentage: an amount of each invoice, in the currency of the contract. */
  readonly amount?: string;
  /** It is removed at the start and added again at the end. */
  readonly away?: Time;
}

export interface Use {
  /** 0: the customer; then the members, or the customer who pays. */
  readonly by: number;
  readonly service: string;
  readonly at: number;
  readonly value: string;
  /** It arrives after its period was drafted and before that is final, or after that: then it is not billed. */
  readonly late?: 'draft' | 'final';
}

export interface Row {
  readonly name: string;
  readonly kind: 'base' | 'overage' | 'true_up' | 'credit';
  readonly start: number;
  readonly end: number;
  /** Null: not compared. */
  readonly quantity: string | null;
  readonly amount: string;
  /** The amounts of the rows that it stands for: each is converted and discounted by itself. Absent: it is one. */
  readonly shares?: readonly string[];
}

/** A row with what its invoice charges for it. */
export interface BilledRow extends Row {
  readonly net: Decimal;
  /** Its amount and its net in the currency of the contract. */
  readonly own: { readonly amount: Decimal; readonly net: Decimal };
  /** Its part of the exclusive tax, not rounded. */
  readonly tax: Decimal;
}

export type Reason =
  | 'SUBSCRIPTION_CREATE'
  | 'SUBSCRIPTION_TRIAL_END'
  | 'SUBSCRIPTION_CYCLE'
  | 'SUBSCRIPTION_UPDATE'
  | 'PRORATION';

/** The rows of an invoice, in the currency of the contract. */
export interface Draft {
  readonly reason: Reason;
  readonly period: Time;
  /** When it is drafted, and when it is final. */
  readonly drafted: number;
  readonly issued: number;
  readonly rows: readonly Row[];
  /** What a change charges, billed without its credits: later credits return a part of this, with its tax. */
  readonly charges?: Bill;
}

/** Money that comes into the prepaid wallet, in the currency of the invoices. */
export interface Block {
  readonly at: number;
  readonly amount: string;
  /** Lower ones are used first; null: last. */
  readonly priority: number | null;
  readonly expiry: number | null;
}

export interface Sums {
  readonly subtotal: string;
  readonly discount: string;
  readonly credits: string;
  readonly tax: string;
  readonly total: string;
}

export interface Bill extends Draft, Sums {
  readonly rows: readonly BilledRow[];
}

/** Money of the custom currency `crx`. */
export const FACTOR = '0.37';

/** Price units by their currency. */
export const PRICE_UNITS = {
  usd: { code: 'tok', rate: '0.913' },
  jpy: { code: 'pts', rate: '1.7' },
} as const;
