/** One labelled value, for example the due date. */
export interface PrintedFact {
  readonly label: string;
  readonly value: string;
}

export interface PrintedColumn {
  readonly heading: string;
  /** Part of the table's width; the shares of a table sum to 1. */
  readonly share: number;
  readonly align: 'left' | 'right';
}

export interface PrintedRow {
  /** One text per column. */
  readonly cells: readonly string[];
  /** Smaller text below the first cell; null for none. */
  readonly detail: string | null;
}

/** Rows under a heading; null for no heading. */
export interface PrintedGroup {
  readonly heading: string | null;
  readonly rows: readonly PrintedRow[];
}

export interface PrintedTable {
  readonly columns: readonly PrintedColumn[];
  readonly groups: readonly PrintedGroup[];
}

export interface PrintedTotal extends PrintedFact {
  readonly isStrong: boolean;
}

/** Text in a fixed-width font on pages after the document. */
export interface PrintedAnnex {
  readonly heading: string;
  readonly text: string;
}

/**
 * A business document as plain values. All texts are final: formatted and in their language. No text is
 * interpreted as markup.
 */
export interface PrintedDocument {
  readonly heading: string;
  /** Printed next to the heading, for example `DRAFT`; null for none. */
  readonly stamp: string | null;
  /** At the bottom of each page, before the page number. */
  readonly footer: string;
  readonly author: string;
  /** ISO 8601 in UTC. The file contains no other time, so the same document gives the same bytes. */
  readonly dated: string;
  /** Colour of headings and rules, `#RRGGBB`. */
  readonly accent: string;
  /** PNG or JPEG as a data URI; null for none. */
  readonly logo: string | null;
  readonly facts: readonly PrintedFact[];
  /** Blocks of address lines, side by side. */
  readonly parties: readonly { readonly heading: string; readonly lines: readonly string[] }[];
  readonly table: PrintedTable;
  readonly totals: readonly PrintedTotal[];
  readonly notes: readonly string[];
  readonly annex: readonly PrintedAnnex[];
}
