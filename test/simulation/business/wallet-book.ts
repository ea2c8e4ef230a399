/**
 * A wallet as a person keeps it on paper: blocks of credits, an overdraft, and nothing that the product knows.
 * Credits are counted by what they are worth, in cents.
 */
interface Block {
  readonly order: number;
  readonly priority: number;
  readonly expiry: string;
  readonly reference: string;
  left: number;
}

/** When credits are bought by themselves; hundredths of credits. */
export interface AutoTopUp {
  readonly isOn: boolean;
  readonly isInvoiced: boolean;
  readonly threshold: number;
  readonly credits: number;
}

const NEVER = '9999';
/** Returned credits whose own expiry has passed live for 30 days. */
const RETURNED_MS = 30 * 86_400_000;

/** Credits taken from a block. */
export interface Taken {
  readonly block: Block;
  readonly credits: number;
}

export class WalletBook {
  #blocks: Block[] = [];
  #order = 0;
  overdraft = 0;
  /** It pays every row of an invoice, otherwise those of usage (money 2.1.6). */
  readonly paysAll: boolean;
  /** It accepts credits and refuses debits. */
  isFrozen = false;
  auto: AutoTopUp | null = null;
  /** Time of the last automatic top-up, paid or not. */
  toppedUpAt: string | null = null;

  /** What one credit is worth, and what one costs (money 2.1.3). */
  readonly rate: number;
  readonly price: number;

  constructor({
    paysAll = false,
    rate = 1,
    price = 1,
  }: { paysAll?: boolean; rate?: number; price?: number } = {}) {
    this.paysAll = paysAll;
    this.rate = rate;
    this.price = price;
  }

  get balance(): number {
    return this.#blocks.reduce((sum, { left }) => sum + left, 0) - this.overdraft;
  }

  /** An overdraft is repaid first; the rest is a block. */
  credit(
    credits: number,
    terms: { expiry?: string | null; priority?: number | null; reference?: string } = {},
  ): void {
    const repaid = Math.min(this.overdraft, credits);
    this.overdraft -= repaid;
    this.#order += 1;
    this.#blocks.push({
      order: this.#order,
      priority: terms.priority ?? Infinity,
      expiry: terms.expiry ?? NEVER,
      reference: terms.reference ?? '',
      left: credits - repaid,
    });
  }

  /** What can be spent at a time. `open` are ends of periods whose invoices are not issued yet. */
  spendable(at: string, open: readonly string[]): number {
    if (this.isFrozen) return 0;
    return this.#blocks.reduce(
      (sum, { left, expiry }) => sum + (isUsable(expiry, at, open) ? left : 0),
      0,
    );
  }

  /** By priority, then the next to expire, then the oldest. What is missing is overdrawn. */
  debit(credits: number, at: string, open: readonly string[] = []): Taken[] {
    const taken: Taken[] = [];
    let missing = credits;
    const usable = this.#blocks
      .filter(({ left, expiry }) => left > 0 && isUsable(expiry, at, open))
      .sort(
        (a, b) =>
          (a.priority === b.priority ? 0 : a.priority - b.priority) ||
          (a.expiry < b.expiry ? -1 : a.expiry > b.expiry ? 1 : 0) ||
          a.order - b.order,
      );
    for (const block of usable) {
      const part = Math.min(block.left, missing);
      if (part === 0) break;
      block.left -= part;
      missing -= part;
      taken.push({ block, credits: part });
    }
    this.overdraft += missing;
    return taken;
  }

  /** Credits go back to where they came from; those of a closed wallet come here with their terms. */
  giveBack(taken: readonly Taken[], at: string): void {
    for (const { block, credits } of taken) {
      const repaid = Math.min(this.overdraft, credits);
      this.overdraft -= repaid;
      const rest = credits - repaid;
      if (rest === 0) continue;
      const isAlive = block.expiry > at;
      const expiry = new Date(Date.parse(at) + RETURNED_MS).toISOString();
      if (isAlive && this.#blocks.includes(block)) block.left += rest;
      else this.credit(rest, { expiry: isAlive ? block.expiry : expiry, priority: block.priority });
    }
  }

  /** Credits of a block that no one has spent are taken out again; false if some are spent. */
  recall(reference: string, credits: number): boolean {
    const block = this.#blocks.find((each) => each.reference === reference);
    if (block === undefined || block.left < credits) return false;
    block.left -= credits;
    return true;
  }

  /** The same, as far as they are unspent: the credits that are taken. */
  recallUnspent(reference: string, credits: number): number {
    const left = this.#blocks.find((each) => each.reference === reference)?.left ?? 0;
    const taken = Math.min(credits, left);
    this.recall(reference, taken);
    return taken;
  }

  /** Writes off what has expired by a time. */
  expire(at: string, open: readonly string[]): void {
    for (const block of this.#blocks) if (!isUsable(block.expiry, at, open)) block.left = 0;
  }
}

/** Expired credits are held for the invoice of a period that ended before they expired (money 2.7.4). */
const isUsable = (expiry: string, at: string, open: readonly string[]): boolean =>
  expiry > at || open.some((end) => end <= expiry);
