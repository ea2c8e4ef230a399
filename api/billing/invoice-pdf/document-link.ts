import * as z from 'zod';
import { notFound } from '../../../domain/errors.ts';
import { isoTime } from '../../../platform/clock.ts';
import type { Scope } from '../../../postgres/client.ts';
import type { ApiDeps } from '../../deps.ts';

/** Content of a link: what it shows and until when. */
const Linked = z.object({
  environment_id: z.string(),
  invoice_id: z.string(),
  has_annex: z.boolean(),
  expires_at: z.string(),
});

export interface LinkedInvoice {
  readonly scope: Scope;
  readonly invoice_id: string;
  readonly hasAnnex: boolean;
}

const LINK_SECONDS = 3600;

type Deps = Pick<ApiDeps, 'secretBox' | 'processClock' | 'publicUrl'>;

const placeOf = (tenant_id: string) => ({ tenant_id, column: 'links.invoice_pdf' });

/**
 * An address that shows the document for one hour without a credential. The token is encrypted and bound to the
 * tenant.
 */
export function documentLink(deps: Deps, { scope, invoice_id, hasAnnex }: LinkedInvoice): string {
  const linked: z.infer<typeof Linked> = {
    environment_id: scope.environment_id,
    invoice_id,
    has_annex: hasAnnex,
    expires_at: isoTime(deps.processClock.now() + LINK_SECONDS * 1000),
  };
  const token = deps.secretBox.seal(JSON.stringify(linked), placeOf(scope.tenant_id));
  return `${deps.publicUrl}/v1/documents/${scope.tenant_id}/${encodeURIComponent(token)}`;
}

/** 404 for a token that is changed, expired or of another tenant. */
export function openDocumentLink(deps: Deps, tenant_id: string, token: string): LinkedInvoice {
  const linked = Linked.safeParse(opened(deps, tenant_id, token));
  if (!linked.success || linked.data.expires_at <= isoTime(deps.processClock.now()))
    throw notFound('Document', 'of this link');
  const { environment_id, invoice_id, has_annex } = linked.data;
  return { scope: { tenant_id, environment_id }, invoice_id, hasAnnex: has_annex };
}

function opened(deps: Deps, tenant_id: string, token: string): unknown {
  try {
    return JSON.parse(deps.secretBox.open(token, placeOf(tenant_id)));
  } catch {
    return null;
  }
}
