import { z } from 'zod';
import { decimalText, id, instant, integer, optionalOneOf, time } from './primitives.ts';

export const RevenueDashboardBody = z
  .object({
    period_start: time,
    period_end: time,
    customer_ids: z.array(id).max(1000).nullish(),
  })
  .refine((body) => body.period_start < body.period_end, {
    path: ['period_end'],
    message: 'must be after period_start',
  });
export type RevenueDashboardBody = z.output<typeof RevenueDashboardBody>;

const revenue = {
  total_revenue: decimalText,
  total_usage_revenue: decimalText,
  /** Everything except usage: fees, and rows of one-off invoices. */
  total_fixed_revenue: decimalText,
};

/** Invoices issued in the period, in main currency units, net of discounts, without exclusive tax. */
export const RevenueDashboard = z
  .object({
    /** By currency; amounts in different currencies are never added. */
    summaries: z.record(z.string(), z.object(revenue)),
    items: z.array(
      z.object({
        customer_id: z.string(),
        customer_name: z.string(),
        external_customer_id: z.string(),
        currency: z.string(),
        ...revenue,
      }),
    ),
  })
  .meta({ id: 'RevenueDashboard' });
export type RevenueDashboard = z.infer<typeof RevenueDashboard>;

export const WINDOW_COUNT_DEFAULT = 3;

export const RevenuesBody = z.object({
  revenue_trend: z
    .object({ window_count: integer.min(1, 'must be at least 1').max(120).nullish() })
    .nullish(),
});

export const Revenues = z
  .object({
    revenue_trend: z.object({
      /** By currency, oldest window first; the last window ends now. */
      currency_revenue_windows: z.record(
        z.string(),
        z.object({
          windows: z.array(
            z.object({
              window_start: instant,
              window_end: instant,
              window_label: z.string(),
              total_revenue: decimalText,
            }),
          ),
        }),
      ),
      window_size: z.literal('MONTH'),
      window_count: z.int(),
    }),
    recent_subscriptions: z.object({
      total_count: z.int(),
      plans: z.array(z.object({ plan_id: z.string(), plan_name: z.string(), count: z.int() })),
      period_start: instant,
      period_end: instant,
    }),
    invoice_payment_status: z.object({
      paid: z.int(),
      pending: z.int(),
      failed: z.int(),
      period_start: instant,
      period_end: instant,
    }),
  })
  .meta({ id: 'Revenues' });
export type Revenues = z.infer<typeof Revenues>;

export const DashboardSummaryBody = z
  .object({
    start_time: time.nullish(),
    end_time: time.nullish(),
    /** `all`: open and overdue are of all finalized invoices, whenever they were issued. Default: `range`. */
    open_of: optionalOneOf(['range', 'all']),
  })
  .refine(({ start_time, end_time }) => !start_time || !end_time || start_time < end_time, {
    path: ['end_time'],
    message: 'must be after start_time',
  });
export type DashboardSummaryBody = z.output<typeof DashboardSummaryBody>;

/** The figures of the home page, by currency. */
export const DashboardSummary = z
  .object({
    /** The instant of `mrr`, and of what is open and overdue. */
    at: instant,
    /** Null means no bound. */
    start_time: instant.nullable(),
    end_time: instant.nullable(),
    currencies: z.array(
      z.object({
        currency: z.string(),
        /** Recurring fixed fees of active subscriptions after coupons, per month. Not limited to the range. */
        mrr: decimalText,
        /** Totals of finalized invoices that were issued in the range. */
        invoiced_amount: decimalText,
        invoiced_count: z.int(),
        /** Of these invoices, or of all with `open_of: all`, what is not paid yet. */
        open_amount: decimalText,
        open_count: z.int(),
        /** Of what is open, the part after its due date. */
        overdue_amount: decimalText,
        overdue_count: z.int(),
        /** Payments that succeeded in the range, refunded ones included; credits of wallets excluded. */
        collected_amount: decimalText,
        collected_count: z.int(),
      }),
    ),
  })
  .meta({ id: 'DashboardSummary' });
export type DashboardSummary = z.infer<typeof DashboardSummary>;

/** Active wallets whose balance has crossed a threshold of their alerts. */
export const WalletsAtRisk = z
  .object({
    /** By currency; amounts in different currencies are never added. */
    currencies: z.array(
      z.object({
        currency: z.string(),
        /** The sum of the balances of these wallets. */
        balance: decimalText,
        wallet_count: z.int(),
      }),
    ),
  })
  .meta({ id: 'WalletsAtRisk' });
export type WalletsAtRisk = z.infer<typeof WalletsAtRisk>;
