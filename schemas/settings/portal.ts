import { z } from 'zod';
import { matching, name, text } from '../primitives.ts';
import { PORTAL_RANGES } from '../words.ts';
import { colour } from './colour.ts';

const order = z.int32().default(0);

const UsageGraph = z
  .object({
    /** In the order of the choice. */
    date_presets: z.array(z.enum(PORTAL_RANGES)).max(PORTAL_RANGES.length).default([]),
    /** Chosen at first; empty: the first of `date_presets`. */
    default_preset: z.enum(PORTAL_RANGES).or(z.literal('')).default(''),
    allow_custom_date_range: z.boolean().default(false),
    /** `inc`: usage of features that the customer's plans include, if they include any; otherwise all usage. */
    feature_filter_mode: z.enum(['all', 'inc', '']).default(''),
  })
  .refine(
    ({ date_presets, default_preset }) =>
      default_preset === '' || date_presets.length === 0 || date_presets.includes(default_preset),
    { path: ['default_preset'], message: 'must be one of date_presets' },
  );
const MetricCards = z.object({
  show_cost_metrics: z.boolean().default(false),
  /** What each meter counted. */
  show_custom_metrics: z.boolean().default(false),
  /** What the usage costs the customer. */
  show_revenue_metric: z.boolean().default(false),
});
const Tab = z.object({
  id: name(),
  type: name(),
  enabled: z.boolean().default(false),
  order,
  usage_graph: UsageGraph.nullish(),
  metric_cards: MetricCards.nullish(),
});
const Section = z.object({
  id: name(),
  label: text().default(''),
  enabled: z.boolean().default(false),
  order,
  tabs: z.array(Tab).max(50).default([]),
});

/** Only letters, digits, dots and hyphens: an origin becomes part of the page's security policy. */
const ORIGIN = /^(https:\/\/[a-z0-9.-]+|http:\/\/(localhost|127\.0\.0\.1))(:\d{1,5})?$/;
const embedOrigin = matching(
  ORIGIN,
  300,
  'must be an origin with https, for example https://app.example.com',
);

/** What the customer portal shows, in display order. */
export const CustomerPortalConfig = z.object({
  version: text(20).optional(),
  theme: z
    .object({ primary_color: colour, secondary_color: colour, tertiary_color: colour })
    .partial()
    .optional(),
  sections: z.array(Section).max(50).optional(),
  /** Sites that may show the portal in a frame; absent or empty: none. */
  embed_origins: z.array(embedOrigin).max(20).optional(),
});

export type CustomerPortalConfig = z.output<typeof CustomerPortalConfig>;

const tab = (id: string, order: number, type: string, rest: object = {}) => ({
  id,
  order,
  type,
  enabled: true,
  ...rest,
});
const section = (id: string, label: string, order: number, tabs: object[]) => ({
  id,
  label,
  order,
  enabled: true,
  tabs,
});
const RECENT = ['last_7_days', 'last_30_days'];

export const CUSTOMER_PORTAL_CONFIG_DEFAULT = {
  version: '1.0',
  theme: {},
  sections: [
    section('usage', 'Usage', 1, [
      tab('1', 1, 'metric_cards', {
        metric_cards: {
          show_cost_metrics: false,
          show_custom_metrics: true,
          show_revenue_metric: true,
        },
      }),
      tab('2', 2, 'usage_graph', {
        usage_graph: {
          allow_custom_date_range: true,
          date_presets: ['today', ...RECENT, 'current_month', 'last_month'],
          default_preset: 'last_7_days',
          feature_filter_mode: 'inc',
        },
      }),
      tab('4', 3, 'current_usage'),
      tab('3', 4, 'usage_breakdown'),
    ]),
    section('credits', 'Credits', 2, [
      tab('6', 1, 'wallet_balance'),
      tab('7', 2, 'wallet_transactions'),
    ]),
    section('invoices', 'Invoices', 3, [tab('8', 1, 'invoices')]),
    section('overview', 'Overview', 4, [
      tab('9', 1, 'wallet_balance'),
      tab('10', 2, 'subscriptions'),
      tab('11', 3, 'usage_graph', {
        usage_graph: {
          allow_custom_date_range: true,
          date_presets: RECENT,
          default_preset: 'last_7_days',
          feature_filter_mode: 'all',
        },
      }),
    ]),
  ],
};
