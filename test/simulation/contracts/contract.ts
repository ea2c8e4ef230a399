import type { Bucket, Time, Unit } from './naive-calendar.ts';

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

export interface Fee extends Cadence {
  readonly name: string;
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

export interface Service extends Cadence {
  readonly name: string;
  readonly model: Model;
  readonly later: Model | null;
  readonly bucket: { readonly size: Bucket; readonly sum: boolean } | null;
  readonly free: { readonly limit: number; readonly reset: Unit | 'NEVER' | null } | null;
  readonly commitment: LineCommitment | null;
}

export interface Tax {
  readonly percent: string;
  readonly inclusive: boolean;
}

export interface Contract extends Cadence {
  readonly zone: string;
  readonly start: number;
  readonly end: number | null;
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
  readonly commitment: {
    readonly value: string;
    readonly factor: string;
    readonly trueUp: boolean;
    readonly duration: Unit | null;
  } | null;
  /** Percent off everything in the first periods; null periods: forever. */
  readonly off: { readonly percent: number; readonly periods: number | null } | null;
  readonly taxes: readonly Tax[];
  /** Money of a prepaid wallet in the currency of the invoices. */
  readonly credits: number;
  /** How many periods are lived. */
  readonly periods: number;
}

export interface Use {
  readonly service: string;
  readonly at: number;
  readonly value: string;
}

export interface Row {
  readonly name: string;
  readonly kind: 'base' | 'overage' | 'true_up';
  readonly start: number;
  readonly end: number;
  /** Null: not compared. */
  readonly quantity: string | null;
  readonly amount: string;
}

export interface Bill {
  readonly period: Time;
  readonly rows: readonly Row[];
  readonly subtotal: string;
  readonly discount: string;
  readonly credits: string;
  readonly tax: string;
  readonly total: string;
}

/** Money of the custom currency `crx`. */
export const FACTOR = '0.37';
