import { auditWallets } from '../../api/billing/credits/audit-wallets.ts';
import { startBillingWorld, type BillingWorld } from '../support/billing-world.ts';
import { cents, money } from './business/cents.ts';
import { isMissingTopUp } from './business/auto-top-ups.ts';
import { Company } from './business/company.ts';

/**
 * A year of a business by a test clock: random usage, also late, and its settlement, payments, credits, taxes, refunds,
 * credit notes, edited and recalculated invoices, checkout sessions, disputes, voided invoices, changes of plan and
 * quantity, coupons, addons, wallets that freeze, end and buy credits by themselves, cancellations, and customers who
 * are deleted; some are sent twice, some lose their connections in the middle. Commands about different customers run
 * at once; those about one customer are drawn from its own stream and keep their order, so that a seed is one history.
 * At each month's end every invoice and wallet agrees to the cent with a naive ledger, and the identities of the ledger
 * hold. `.ci/run` has 100 customers. A person runs other years and a larger or busier business:
 * `BUSINESS_SEED=7 BUSINESS_CUSTOMERS=300 BUSINESS_COMMANDS=9`; one of its customers, `customer-42`, alone:
 * `BUSINESS_SEED=7 BUSINESS_CUSTOMERS=1 BUSINESS_FIRST=42`.
 */
const CUSTOMERS = Number(process.env['BUSINESS_CUSTOMERS'] ?? 24);
/** Index of the first customer: the commands about a customer follow from the seed and its index. */
const FIRST = Number(process.env['BUSINESS_FIRST'] ?? 0);
const MONTHS = Number(process.env['BUSINESS_MONTHS'] ?? 12);
const SEED = Number(process.env['BUSINESS_SEED'] ?? 1);
/** A customer's month has fewer commands than this: one on average. */
const COMMANDS = Number(process.env['BUSINESS_COMMANDS'] ?? 3);
const START = '2025-01-01T00:00:00.000Z';
/** 1,000 customers take more than an hour. */
const PATIENCE_MS = Math.max(3_600_000, CUSTOMERS * 12_000);

let world: BillingWorld;
beforeAll(async () => {
  world = await startBillingWorld();
});
afterAll(() => world.stop());

test(
  `${CUSTOMERS} customers, ${MONTHS} months, BUSINESS_SEED=${SEED}`,
  async () => {
    process.stdout.write(`a year of ${CUSTOMERS} customers: BUSINESS_SEED=${SEED}\n`);
    const company = new Company(world, SEED);
    await company.open(START, { first: FIRST, count: CUSTOMERS });
    for (let month = 1; month <= MONTHS; month += 1) {
      const date = new Date(START);
      date.setUTCMonth(month);
      const invoices = await company.month(new Date(date.getTime() + 60 * 3_600_000).toISOString());
      await agree(company, invoices, `month ${month}, before its commands`);
      await company.commands(COMMANDS);
      if (month % 4 === 2) await company.changeBank();
      if (CUSTOMERS > 100) process.stdout.write(`month ${month} of ${MONTHS} agrees\n`);
      if (month < MONTHS) continue;
      const last = await company.month(new Date(date.getTime() + 240 * 3_600_000).toISOString());
      await agree(company, last, 'the end');
      await revenueAgrees(company, last);
    }
    if (process.env['BUSINESS_SEED'] !== undefined)
      process.stdout.write(`${JSON.stringify(company.tally, null, 1)}\n`);
  },
  PATIENCE_MS,
);

/** Product and ledger, invoice by invoice and wallet by wallet. `rows` are all invoices. */
async function agree(company: Company, rows: readonly any[], when: string): Promise<void> {
  const differences: string[] = [];
  const differ = (what: string, product: object, ledger: object) => {
    const [left, right] = [JSON.stringify(product), JSON.stringify(ledger)];
    if (left !== right) differences.push(`${what}\n  product ${left}\n  ledger  ${right}`);
  };
  const sums = { total: 0, settled: 0, refunded: 0 };
  for (const row of rows) {
    if (row.invoice_status === 'DRAFT' || row.invoice_status === 'SKIPPED') continue;
    const mine = company.ledger.invoices.get(row.id);
    const name = `${when}: ${row.billing_reason} ${row.id} ${row.invoice_status} of ${mine?.customer.external_id ?? row.customer_id}`;
    if (mine === undefined || mine.total === null) {
      differences.push(`${name}: unknown to the ledger`);
      continue;
    }
    const due = Math.max(mine.total - mine.adjusted, 0);
    const paid = company.ledger.paid(mine);
    differ(
      name,
      {
        status: row.invoice_status === 'VOIDED', discount: cents(row.total_discount), total: cents(row.total), tax: cents(row.total_tax), prepaid: cents(row.total_prepaid_credits_applied),
        adjusted: cents(row.adjustment_amount), paid: cents(row.amount_paid), remaining: cents(row.amount_remaining),
        overpaid: cents(row.overpaid_amount), refunded: cents(row.refunded_amount),
      },
      {
        status: mine.isVoid, discount: mine.off, total: mine.total, tax: mine.inclusive + mine.exclusive, prepaid: mine.prepaid,
        adjusted: mine.adjusted, paid, remaining: Math.max(due - paid, 0),
        overpaid: Math.max(paid - due, 0), refunded: company.ledger.refunded(mine),
      },
    ); // prettier-ignore
    if (mine.isVoid) continue;
    sums.total += cents(row.total);
    sums.settled +=
      cents(row.amount_paid) -
      cents(row.overpaid_amount) +
      cents(row.adjustment_amount) +
      cents(row.amount_remaining);
  }
  differ(
    `${when}: Σ total = Σ (paid − overpaid) + Σ adjustment + Σ remaining`,
    [sums.total],
    [sums.settled],
  );
  differ(`${when}: Σ refunded = Σ succeeded refunds`, await refundsOfProduct(), [
    rows.reduce((sum, { refunded_amount }) => sum + cents(refunded_amount), 0),
  ]);
  await compareWallets(company, when, differ);
  await compareBank(company, when, differ);
  await compareRedemptions(company, when, differ);
  for (const customer of company.ledger.customers)
    if (isMissingTopUp(company.ledger, customer, company.now))
      differences.push(`${when}: no automatic top-up of ${customer.external_id}`);
  expect((await auditWallets(world.api.pool)).faulty).toEqual([]);
  expect(differences.slice(0, 8).join('\n')).toBe('');
}

type Differ = (what: string, product: object, ledger: object) => void;

async function refundsOfProduct(): Promise<number[]> {
  const [row] = await world.api.pool<{ sum: string }[]>`
    select coalesce(sum(amount), 0) as sum from refunds where refund_status = 'SUCCEEDED' and invoice_id is not null`;
  return [cents(row!.sum)];
}

async function compareWallets(company: Company, when: string, differ: Differ): Promise<void> {
  const rows = await world.api.pool<
    { id: string; customer_id: string; currency: string; wallet_type: string; balance: string }[]
  >`
    select id, customer_id, currency, wallet_type, balance from wallets where wallet_status in ('active', 'frozen')`;
  for (const customer of company.ledger.customers) {
    const of = (type: string, currency = 'usd') =>
      rows.find(
        (row) =>
          row.customer_id === customer.id && row.wallet_type === type && row.currency === currency,
      );
    const prepaid = of('PRE_PAID');
    customer.wallet_id = prepaid?.id ?? null;
    differ(
      `${when}: credits of ${customer.external_id}`,
      { credits: worth(prepaid?.balance, customer.book.balance) },
      { credits: customer.book.balance },
    );
    differ(
      `${when}: euros of ${customer.external_id}`,
      { credits: worth(of('PRE_PAID', 'eur')?.balance, customer.euros.balance) },
      { credits: customer.euros.balance },
    );
    if (customer.postpaid !== null)
      differ(
        `${when}: postpaid credits of ${customer.external_id}`,
        { credits: worth(of('POST_PAID')?.balance, customer.postpaid.book.balance) },
        { credits: customer.postpaid.book.balance },
      );
  }
}

/**
 * A balance in cents, unrounded. Binary numbers are not exact: a balance within a thousandth of a cent of the ledger is
 * that of the ledger.
 */
function worth(balance: string | undefined, expected: number): number {
  const shown = Number(balance ?? 0) * 100;
  return Math.abs(shown - expected) < 0.001 ? expected : shown;
}

/** Redemptions of each coupon, which never exceed its limit (billing 7.1). */
async function compareRedemptions(company: Company, when: string, differ: Differ): Promise<void> {
  const rows = await world.api.pool<{ id: string; total_redemptions: number }[]>`
    select id, total_redemptions from coupons`;
  const counted = new Map(rows.map(({ id, total_redemptions }) => [id, total_redemptions]));
  for (const { id, code, redeemed } of company.ledger.coupons)
    differ(`${when}: redemptions of ${code}`, [counted.get(id)], [redeemed]);
}

/** What the bank paid back is what the ledger sent there, payment by payment. */
async function compareBank(company: Company, when: string, differ: Differ): Promise<void> {
  const rows = await world.api.pool<{ id: string; refunded: string }[]>`
    select t.reference as id, sum(r.amount) as refunded
      from test_gateway_refunds r join test_gateway_payments t on t.id = r.gateway_payment_id
     where r.state = 'succeeded' group by 1`;
  const paidBack = new Map(rows.map(({ id, refunded }) => [id, cents(refunded)]));
  for (const { id, toSource } of company.ledger.payments.values())
    differ(`${when}: paid back by the bank for ${id}`, [paidBack.get(id) ?? 0], [toSource]);
}

/**
 * Revenue of the days adds up to the revenue of the invoices; credits bought are not revenue. Revenue by month, which
 * is read from the sums that an invoice stores, is that of its rows.
 */
async function revenueAgrees(company: Company, rows: readonly any[]): Promise<void> {
  const invoices = rows.filter(
    ({ id, currency, invoice_status }) =>
      invoice_status === 'FINALIZED' &&
      currency === 'usd' &&
      company.ledger.invoices.get(id)?.purchase == null,
  );
  const byDay = new Map<string, number>();
  for (const {
    finalized_at,
    total,
    tax_summary,
    total_prepaid_credits_applied: credits,
  } of invoices) {
    const day = finalized_at.slice(0, 10);
    byDay.set(
      day,
      (byDay.get(day) ?? 0) +
        cents(total) +
        cents(credits) -
        cents(tax_summary?.exclusive_tax ?? '0'),
    );
  }
  const revenue = async (period_start: string, period_end: string): Promise<number> => {
    const { body } = await world.api.post('/v1/dashboard/revenue-dashboard', {
      period_start,
      period_end,
    });
    return cents(body.summaries['usd']?.total_revenue ?? '0');
  };
  let sum = 0;
  for (const [day, amount] of byDay) {
    const start = `${day}T00:00:00.000Z`;
    const end = new Date(Date.parse(start) + 86_400_000).toISOString();
    expect([day, money(await revenue(start, end))]).toEqual([day, money(amount)]);
    sum += amount;
  }
  expect(await revenue('2024-01-01T00:00:00.000Z', '2027-01-01T00:00:00.000Z')).toBe(sum);

  const { body } = await world.api.post('/v1/dashboard/revenues', {
    revenue_trend: { window_count: 24 },
  });
  const { windows } = body.revenue_trend.currency_revenue_windows.usd;
  const byMonth = new Map<string, number>();
  for (const [day, amount] of byDay)
    byMonth.set(day.slice(0, 7), (byMonth.get(day.slice(0, 7)) ?? 0) + amount);
  const sold = windows.filter((window: any) => window.total_revenue !== '0');
  expect(
    sold.map(({ window_label, total_revenue }: any) => [window_label, cents(total_revenue)]),
  ).toEqual([...byMonth].filter(([, amount]) => amount !== 0).sort());
}
