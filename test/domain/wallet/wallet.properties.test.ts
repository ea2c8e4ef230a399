import fc from 'fast-check';
import { BillingError } from '../../../domain/errors.ts';
import { decimal, Decimal, decimalText, sum } from '../../../domain/money.ts';
import type { CreditBlock } from '../../../domain/wallet/credit-block.ts';
import {
  convertToPostpaid,
  expireBlocks,
  isDueToExpire,
  terminateWallet,
} from '../../../domain/wallet/end-of-credits.ts';
import { completePurchase, requestPurchase } from '../../../domain/wallet/purchase.ts';
import { reverseDebit } from '../../../domain/wallet/reversal.ts';
import type { WalletTransaction } from '../../../domain/wallet/transaction.ts';
import {
  creditWallet,
  debitWallet,
  type Wallet,
  type WalletDecision,
} from '../../../domain/wallet/wallet.ts';
import { property } from '../../support/properties.ts';
import { credit, debit, walletOf } from './wallet-input.ts';

/** Commands as a caller gives them; credits in hundredths, time in days that only pass. */
type Command =
  | { kind: 'credit'; units: number; priority: number | null; lives: number | null }
  | { kind: 'purchase'; units: number; bonus: number }
  | { kind: 'debit' | 'overdraw'; units: number; isLate: boolean }
  | { kind: 'reverse'; which: number }
  | { kind: 'wait'; days: number }
  | { kind: 'sweep' };

const units = fc.integer({ min: 1, max: 3_000 });
const commands: fc.Arbitrary<Command> = fc.oneof(
  fc.record({
    kind: fc.constant('credit' as const),
    units,
    priority: fc.option(fc.integer({ min: 0, max: 2 })),
    lives: fc.option(fc.integer({ min: 1, max: 6 })),
  }),
  fc.record({ kind: fc.constant('purchase' as const), units, bonus: units }),
  fc.record({
    kind: fc.constantFrom('debit' as const, 'debit' as const, 'overdraw' as const),
    units,
    isLate: fc.boolean(),
  }),
  fc.record({ kind: fc.constant('reverse' as const), which: fc.nat({ max: 5 }) }),
  fc.record({ kind: fc.constant('wait' as const), days: fc.integer({ min: 1, max: 3 }) }),
  fc.record({ kind: fc.constant('sweep' as const) }),
);

const at = (day: number) => new Date(Date.UTC(2026, 0, 1 + day)).toISOString();
const text = (hundredths: number) => decimalText(new Decimal(hundredths).div(100));

/** The books of `domain/`: what a database would hold. */
class Books {
  wallet: Wallet = walletOf('0', { conversion_rate: '0.5', topup_conversion_rate: '0.4' });
  blocks = new Map<string, CreditBlock>();
  rows: WalletTransaction[] = [];
  private count = 0;

  id = (): string => `t${String((this.count += 1)).padStart(4, '0')}`;
  open = (): CreditBlock[] =>
    [...this.blocks.values()].filter(({ credits_available }) => credits_available !== '0');

  write(decision: WalletDecision): void {
    this.wallet = decision.wallet;
    this.rows.push(...decision.rows);
    for (const block of decision.blocks) this.blocks.set(block.id, block);
  }
}

/** An independent model: blocks as plain numbers, and what is owed. */
interface ModelBlock {
  id: string;
  left: number;
  priority: number;
  dies: number;
  born: number;
}
class Model {
  day = 0;
  owed = 0;
  blocks: ModelBlock[] = [];

  balance = () => this.blocks.reduce((all, block) => all + block.left, 0) - this.owed;
  add(block: ModelBlock): void {
    const fill = Math.min(this.owed, block.left);
    this.owed -= fill;
    this.blocks.push({ ...block, left: block.left - fill });
  }
  /** A late invoice is for a period that ended yesterday. */
  spendable = (isLate: boolean) =>
    this.blocks.filter(
      ({ left, dies }) =>
        left > 0 && (dies > this.day || (isLate && this.day - 1 <= dies && this.day < dies + 3)),
    );
  take(amount: number, isLate: boolean): { from: Map<string, number>; short: number } {
    const from = new Map<string, number>();
    let short = amount;
    while (short > 0) {
      const [best] = this.spendable(isLate).sort(
        (a, b) =>
          a.priority - b.priority || a.dies - b.dies || a.born - b.born || (a.id < b.id ? -1 : 1),
      );
      if (best === undefined) break;
      const part = Math.min(best.left, short);
      best.left -= part;
      short -= part;
      from.set(best.id, part);
    }
    return { from, short };
  }
}

const NEVER = 1_000_000;

function run(list: readonly Command[]): { books: Books; model: Model } {
  const books = new Books();
  const model = new Model();
  const debits: { row: WalletTransaction; from: Map<string, number>; isReversed: boolean }[] = [];
  for (const command of list) step(command, books, model, debits);
  return { books, model };
}

function step(
  command: Command,
  books: Books,
  model: Model,
  debits: { row: WalletTransaction; from: Map<string, number>; isReversed: boolean }[],
): void {
  const now = at(model.day);
  switch (command.kind) {
    case 'wait':
      model.day += command.days;
      break;
    case 'credit': {
      const id = books.id();
      const dies = command.lives === null ? NEVER : model.day + command.lives;
      const expiry_date = command.lives === null ? null : at(dies);
      books.write(
        creditWallet(
          books.wallet,
          books.open(),
          credit(text(command.units), { id, priority: command.priority, expiry_date }),
          now,
        ),
      );
      model.add({
        id,
        left: command.units,
        priority: command.priority ?? NEVER,
        dies,
        born: model.day,
      });
      break;
    }
    case 'purchase': {
      const [buy, bonus] = [books.id(), books.id()];
      const pending = requestPurchase(books.wallet, [
        credit(text(command.units), { id: buy, transaction_reason: 'PURCHASED_CREDIT_INVOICED' }),
        credit(text(command.bonus), { id: bonus, transaction_reason: 'PURCHASED_CREDIT_BONUS' }),
      ]);
      books.write(completePurchase(books.wallet, books.open(), pending, now));
      const block = { priority: NEVER, dies: NEVER, born: model.day };
      model.add({ ...block, id: buy, left: command.units });
      model.add({ ...block, id: bonus, left: command.bonus });
      break;
    }
    case 'debit':
    case 'overdraw':
      spend(command, books, model, debits);
      break;
    case 'reverse': {
      const chosen = debits.filter((each) => !each.isReversed)[command.which];
      if (chosen === undefined) break;
      chosen.isReversed = true;
      reverse(chosen, books, model);
      break;
    }
    case 'sweep':
      for (const block of books.open().filter((each) => isDueToExpire(each, [], now))) {
        books.write(expireBlocks(books.wallet, [block], books.id));
      }
      for (const block of model.blocks) if (block.dies <= model.day) block.left = 0;
      break;
    default:
      command satisfies never;
  }
}

function spend(
  command: Extract<Command, { kind: 'debit' | 'overdraw' }>,
  books: Books,
  model: Model,
  debits: { row: WalletTransaction; from: Map<string, number>; isReversed: boolean }[],
): void {
  const isManual = command.kind === 'overdraw';
  const isLate = command.isLate && !isManual;
  const there = model.spendable(isLate).reduce((all, block) => all + block.left, 0);
  const attempt = () =>
    debitWallet(
      books.wallet,
      books.open(),
      debit(text(command.units), {
        id: books.id(),
        transaction_reason: isManual ? 'MANUAL_BALANCE_DEBIT' : 'INVOICE_PAYMENT',
        arrears_period_end: isLate ? at(model.day - 1) : null,
      }),
      at(model.day),
    );
  if (!isManual && there < command.units) {
    expect(attempt).toThrow(BillingError);
    return;
  }
  const decision = attempt();
  const { from, short } = model.take(command.units, isLate);
  model.owed += short;
  const [row] = decision.rows;
  expect(
    new Map(row!.consumption_breakdown.map((each) => [each.credit_transaction_id, each.credits])),
  ).toEqual(new Map([...from].map(([id, part]) => [id, text(part)])));
  debits.push({ row: row!, from, isReversed: false });
  books.write(decision);
}

/** Living blocks are refilled; what came from dead ones becomes a block that lives for 30 days. */
function reverse(
  chosen: { row: WalletTransaction; from: Map<string, number> },
  books: Books,
  model: Model,
): void {
  const consumed = chosen.row.consumption_breakdown.map(({ credit_transaction_id: id }) =>
    books.blocks.get(id)!,
  );
  const ids: string[] = [];
  const next = () => {
    ids.push(books.id());
    return ids.at(-1)!;
  };
  books.write(
    reverseDebit(books.wallet, { open: books.open(), consumed }, chosen.row, next, at(model.day)),
  );
  [...chosen.from].forEach(([id, part], index) => {
    const block = model.blocks.find((each) => each.id === id)!;
    const fill = Math.min(model.owed, part);
    model.owed -= fill;
    if (block.dies > model.day) block.left += part - fill;
    else {
      const priority = block.priority;
      model.blocks.push({
        id: ids[index]!,
        left: part - fill,
        priority,
        dies: model.day + 30,
        born: model.day,
      });
    }
  });
}

const lists = fc.array(commands, { minLength: 1, maxLength: 25 });

property(
  'commands in any order keep the books that the model keeps',
  fc.property(lists, (list) => {
    const { books, model } = run(list);
    expect(books.wallet.credit_balance).toBe(text(model.balance()));
    const kept = new Map(
      model.blocks.filter(({ left }) => left > 0).map(({ id, left }) => [id, text(left)]),
    );
    expect(new Map(books.open().map((block) => [block.id, block.credits_available]))).toEqual(kept);
  }),
  { quick: 250, deep: 30_000 },
);

property(
  'balance = Σ blocks − overdraft, and balance = credits × rate (money 24 I1, I2)',
  fc.property(lists, (list) => {
    const { books, model } = run(list);
    const { wallet } = books;
    const available = sum(books.open().map((block) => decimal(block.credits_available)));
    const owed = available.minus(decimal(wallet.credit_balance));
    expect(decimalText(owed)).toBe(text(model.owed));
    expect(owed.gte(0)).toBe(true);
    expect(wallet.balance).toBe(decimalText(decimal(wallet.credit_balance).times('0.5')));
  }),
  { quick: 100, deep: 20_000 },
);

property(
  'rows chain: each begins where the one before it ended, and moves by its credits (money 24 I4)',
  fc.property(lists, (list) => {
    const { books } = run(list);
    let balance = decimal('0');
    for (const row of books.rows) {
      expect(row.credit_balance_before).toBe(decimalText(balance));
      const credits = decimal(row.credit_amount);
      balance = row.type === 'credit' ? balance.plus(credits) : balance.minus(credits);
      expect(row.credit_balance_after).toBe(decimalText(balance));
    }
    expect(books.wallet.credit_balance).toBe(decimalText(balance));
  }),
  { quick: 100, deep: 20_000 },
);

property(
  'a debit and its reversal, with nothing between them, leave the books as they were',
  fc.property(lists, units, (list, amount) => {
    const { books, model } = run(list);
    const before = { wallet: books.wallet, open: books.open() };
    const there = model.spendable(false).reduce((all, block) => all + block.left, 0);
    fc.pre(there >= amount && model.owed === 0);
    const now = at(model.day);
    books.write(
      debitWallet(books.wallet, books.open(), debit(text(amount), { id: books.id() }), now),
    );
    const row = books.rows.at(-1)!;
    const consumed = row.consumption_breakdown.map(({ credit_transaction_id: id }) =>
      books.blocks.get(id)!,
    );
    books.write(reverseDebit(books.wallet, { open: books.open(), consumed }, row, books.id, now));
    expect({ wallet: books.wallet, open: books.open() }).toEqual(before);
  }),
  { quick: 100, deep: 10_000 },
);

property(
  'each block: what came in = what is left + what was taken, expired and filled debts (money 24 I3)',
  fc.property(lists, (list) => {
    const { books } = run(list);
    for (const row of books.rows.filter(({ type }) => type === 'credit')) {
      const block = books.blocks.get(row.id);
      if (block === undefined) continue;
      const taken = books.rows
        .flatMap((each) => each.consumption_breakdown)
        .filter((each) => each.credit_transaction_id === row.id);
      const returned = books.rows.filter(
        (each) =>
          each.parent_transaction_id === row.id &&
          each.transaction_reason === 'INVOICE_VOID_REFUND',
      );
      const out = sum(taken.map((each) => decimal(each.credits)));
      const back = sum(returned.map((each) => decimal(each.credit_amount)));
      // Debts that a credit or a return filled, and returns of dead credits, leave less in the block.
      expect(
        decimal(block.credits_available).lte(decimal(row.credits_available).minus(out).plus(back)),
      ).toBe(true);
      if (returned.length === 0) {
        expect(block.credits_available).toBe(
          decimalText(decimal(row.credits_available).minus(out)),
        );
      }
    }
  }),
  { quick: 100, deep: 10_000 },
);

property(
  'an ended wallet holds nothing, and a converted one holds what the old one held',
  fc.property(lists, (list) => {
    const { books, model } = run(list);
    const closed = terminateWallet(books.wallet, books.open(), 'end', false);
    expect(closed.blocks.every((block) => block.credits_available === '0')).toBe(true);
    expect(closed.wallet.credit_balance).toBe(text(-model.owed));
    if (model.owed > 0) return;
    const ids = { wallet: 'new', nextRow: books.id };
    const converted = convertToPostpaid(books.wallet, books.open(), ids, false);
    expect(converted.opened.wallet.credit_balance).toBe(books.wallet.credit_balance);
    const shape = (block: CreditBlock) => [
      block.credits_available,
      block.priority,
      block.expiry_date,
      block.transaction_reason,
    ];
    expect(converted.opened.blocks.map(shape)).toEqual(books.open().map(shape));
  }),
  { quick: 100, deep: 10_000 },
);
