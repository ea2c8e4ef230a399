import type { Db, Scope } from '../../../postgres/client.ts';
import { readSetting } from '../../../postgres/tables/settings.ts';
import type { Brand } from '../../../schemas/brand.ts';
import { getTenant } from './repository.ts';

const COLOUR = /^#[0-9a-fA-F]{6}$/;

/**
 * Name, logo and colour of the tenant on hosted pages. The colour of the portal's theme comes before that of
 * invoices; a theme colour that is not a hexadecimal colour is left out.
 */
export async function readBrand(db: Db, scope: Scope): Promise<Brand> {
  const [{ name }, document, portal] = await Promise.all([
    getTenant(db, scope.tenant_id),
    readSetting(db, scope, 'invoice_pdf_config'),
    readSetting(db, scope, 'customer_portal_config'),
  ]);
  const colours = [portal.theme?.primary_color, document.colors?.accent];
  return {
    name,
    logo: document.logo || null,
    accent: colours.find((colour) => colour !== undefined && COLOUR.test(colour)) ?? null,
  };
}
