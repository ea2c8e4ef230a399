import type { Db, Scope } from '../../../postgres/client.ts';
import { readSetting } from '../../../postgres/tables/settings.ts';
import { findScopeOfEnvironment } from '../../tenancy/environments/repository.ts';

/** Addresses of a portal that names its environment, in any depth. */
const NAMES_ENVIRONMENT = /^\/portal\/env\/([A-Za-z0-9_-]{1,100})(?:[/?]|$)/;

/**
 * Address of the portal, without a token. It names the environment if sites may frame its portal: the server
 * must know them when it sends the page, before it knows the session.
 */
export async function portalAddress(db: Db, scope: Scope, publicUrl: string): Promise<string> {
  const origins = await readEmbedOrigins(db, scope);
  return origins.length === 0
    ? `${publicUrl}/portal`
    : `${publicUrl}/portal/env/${scope.environment_id}`;
}

/** Origins that may show the portal of an environment in a frame. */
export async function readEmbedOrigins(db: Db, scope: Scope): Promise<readonly string[]> {
  return (await readSetting(db, scope, 'customer_portal_config')).embed_origins ?? [];
}

/** Origins that may frame the page at this path: those of the environment that it names. */
export async function findEmbedOrigins(db: Db, path: string): Promise<readonly string[]> {
  const environmentId = NAMES_ENVIRONMENT.exec(path)?.[1];
  if (environmentId === undefined) return [];
  const scope = await findScopeOfEnvironment(db, environmentId);
  return scope === null ? [] : await readEmbedOrigins(db, scope);
}
