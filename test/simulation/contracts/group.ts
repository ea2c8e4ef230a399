import type { Contract, Use } from './contract.ts';

/** A subscription that is billed with another one. */
export interface Child {
  readonly contract: Contract;
  /** When it joins; null: it is sold under its parent. */
  readonly joins: number | null;
  /** Null: as long as both run. */
  readonly leaves: number | null;
  /** The one of the two on which the requests are made. */
  readonly asked: 'parent' | 'child';
}

/** Usage of one of the contracts: that of the parent is the first. */
export interface GroupUse extends Use {
  readonly of: number;
  /** Null: before anything is billed. */
  readonly arrives: number | null;
}

/** A contract with others whose rows are on its invoices. */
export interface Group {
  readonly parent: Contract;
  readonly children: readonly Child[];
}
