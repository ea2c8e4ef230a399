import { z } from 'zod';
import { Brand } from './brand.ts';
import { id, instant, text } from './primitives.ts';
import { PORTAL_RANGES } from './words.ts';

/** How a page of the portal is shown. */
const placeFields = {
  /** The environment that the address of the page names; null for the plain address. */
  environment_id: id.nullable(),
  /** Whether another site shows the page in a frame. */
  is_framed: z.boolean(),
};
export const OpenPortalPageBody = z.object({ token: text(), ...placeFields });
export const ResumePortalPageBody = z.object(placeFields);
export type PortalPlace = z.output<typeof ResumePortalPageBody>;

export const PORTAL_USAGE_PARTS = [
  'metric_cards',
  'usage_graph',
  'current_usage',
  'usage_breakdown',
] as const;

/** What the page of usage shows, from the setting `customer_portal_config`. */
export const PortalUsagePage = z.object({
  /** In their order on the page. */
  parts: z.array(z.enum(PORTAL_USAGE_PARTS)),
  /** Ranges to choose from; never empty. */
  ranges: z.array(z.enum(PORTAL_RANGES)),
  first_range: z.enum(PORTAL_RANGES),
  may_choose_days: z.boolean(),
  /** Only usage of features that the customer's plans include, if they include any. */
  only_included: z.boolean(),
  shows_spend: z.boolean(),
  shows_quantities: z.boolean(),
});
export type PortalUsagePage = z.infer<typeof PortalUsagePage>;

/** Pages of the portal that the setting `customer_portal_config` names, orders and hides. */
export const PORTAL_PAGES = ['overview', 'usage', 'invoices', 'credits'] as const;
export const PortalPage = z.object({
  id: z.enum(PORTAL_PAGES),
  /** What the page is called; never empty. */
  label: z.string(),
});
export type PortalPage = z.infer<typeof PortalPage>;

/** The session of a portal page. The page keeps the token in memory and sends it in `X-Session-Token`. */
export const PortalPageSession = z.object({
  token: z.string(),
  expires_at: instant,
  /** Until `expires_at`, for browsers whose clock is wrong. */
  expires_in_seconds: z.int(),
  seller: Brand,
  /** Whether the environment is one for tests. */
  is_test: z.boolean(),
  /** Pages of the setting `customer_portal_config` that are shown, in the order of the menu. */
  pages: z.array(PortalPage),
  usage_page: PortalUsagePage,
  customer: z.object({
    name: z.string(),
    timezone: z.string(),
    /** The time of the customer's test clock for a customer who follows one; otherwise the real time. */
    now: instant,
  }),
});
export type PortalPageSession = z.infer<typeof PortalPageSession>;

/** Null: this browser has no session here, or it has ended. */
export const PortalPageAnswer = z.object({ session: PortalPageSession.nullable() });
export type PortalPageAnswer = z.infer<typeof PortalPageAnswer>;
