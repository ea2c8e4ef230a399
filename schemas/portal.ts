import { z } from 'zod';
import { CostAnalyticsBody } from './cost-analytics.ts';
import { contactFields } from './customer.ts';
import { instant, name, recordFields } from './primitives.ts';
import { LIMIT_DEFAULT, LIMIT_MAX, OFFSET_MAX, searchSchemas } from './search.ts';
import { UsageAnalyticsBody } from './usage-analytics.ts';

/** A session of an end customer; clients send the token in `X-Session-Token`. */
export const PortalSession = z
  .object({ url: z.string(), token: z.string(), expires_at: instant })
  .meta({ id: 'PortalSession' });

/** A session that is still valid, without its token. */
export const OpenPortalSession = z
  .object({ ...recordFields, customer_id: z.string(), expires_at: instant })
  .meta({ id: 'OpenPortalSession' });
export type OpenPortalSession = z.infer<typeof OpenPortalSession>;

export const PortalSessionSearch = searchSchemas({
  fields: { created_at: 'time', expires_at: 'time' },
  withoutStatus: true,
  filters: (kind) => ({ customer_id: kind.text() }),
});

/** A page by its number, from 1, as clients of the reference send it; or by an offset, as in every list. */
export const PortalPageBody = z
  .object({
    page: z.int().min(1).nullish(),
    limit: z.int().min(1).max(LIMIT_MAX).nullish(),
    offset: z.int().min(0).nullish(),
  })
  .transform(({ page, limit: sent, offset }, context) => {
    const limit = sent ?? LIMIT_DEFAULT;
    const start = page == null ? null : (page - 1) * limit;
    if (start !== null && offset != null && offset !== start)
      context.addIssue({ code: 'custom', path: ['offset'], message: 'is not that of the page' });
    return { limit, offset: offset ?? start ?? 0 };
  })
  .refine(({ offset }) => offset <= OFFSET_MAX, {
    path: ['page'],
    message: `leads beyond the first ${OFFSET_MAX} records`,
  });

/** Customers may change their contact data only (tenancy 15.6). */
export const UpdatePortalInfoBody = z.object({ ...contactFields, name: name().optional() });

/** The session decides the customer; a customer in the body is ignored. */
export const PortalAnalyticsBody = UsageAnalyticsBody.omit({ external_customer_id: true });
export const PortalCostAnalyticsBody = CostAnalyticsBody.omit({ external_customer_id: true });
