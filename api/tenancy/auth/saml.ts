import { BillingError, notFound } from '../../../domain/errors.ts';
import { isoTime } from '../../../platform/clock.ts';
import type { Assertion } from '../../../platform/identity/saml/assertion.ts';
import {
  bindingCookie,
  bindToBrowser,
  isBoundTo,
  spentCookie,
} from '../../../platform/identity/saml/browser.ts';
import {
  isServing,
  readSamlConfig,
  type SamlConfig,
} from '../../../platform/identity/saml/enforced.ts';
import { refused } from '../../../platform/identity/saml/refused.ts';
import {
  loginUrl,
  metadataOf,
  verifiedAssertion,
  type SsoEnds,
} from '../../../platform/identity/saml/service-provider.ts';
import type { Transaction } from '../../../postgres/client.ts';
import { noteAccess } from '../../../postgres/tables/access-audit.ts';
import type { Device } from '../../../platform/identity/sessions.ts';
import type { SamlResponseBody } from '../../../schemas/saml.ts';
import { certificatesOf } from '../../../schemas/settings/certificates.ts';
import type { ApiDeps } from '../../deps.ts';
import { tenantLimits } from '../tenants/limits.ts';
import { countPeople, insertUser } from '../users/repository.ts';
import {
  deleteExpiredAssertions,
  deleteExpiredRequests,
  findAccount,
  insertAssertion,
  insertRequest,
  takeRequest,
} from './saml-repository.ts';

const REQUEST_MS = 10 * 60_000;

/** Service provider metadata for the tenant's identity provider, as XML. 404 while single sign-on is off. */
export async function samlMetadata(deps: ApiDeps, tenantId: string): Promise<string> {
  return metadataOf((await singleSignOn(deps, tenantId)).ends);
}

/** Redirect URL of the browser, and the cookie to set. */
export interface Redirect {
  readonly location: string;
  readonly cookie: string;
}

/** Stores the start of a login for ten minutes and binds it to the browser. */
export async function beginSamlLogin(
  deps: ApiDeps,
  tenantId: string,
  state: string,
): Promise<Redirect> {
  const { ends } = await singleSignOn(deps, tenantId);
  const now = deps.clock.now();
  const bound = bindToBrowser();
  const request = {
    id: bound.request_id,
    tenant_id: tenantId,
    relay_state: state,
    expires_at: isoTime(now + REQUEST_MS),
    created_at: isoTime(now),
  };
  await deleteExpiredRequests(deps.pool, isoTime(now));
  await insertRequest(deps.pool, request);
  return {
    location: await loginUrl(ends, request.id, state),
    cookie: bindingCookie(bound, pathOf(ends.acs_url), REQUEST_MS / 1000),
  };
}

/**
 * Processes the identity provider's response from the browser that began the login. One transaction consumes
 * the request and the assertion, and finds or creates the account. Returns the redirect URL, with the session
 * after the #, where no server sees it (tenancy 14.5.6 to 14.5.8). A refusal is written to the audit log.
 */
export async function finishSamlLogin(
  deps: ApiDeps,
  tenantId: string,
  form: SamlResponseBody,
  cookies: string | undefined,
  device: Device,
): Promise<Redirect> {
  const sso = await singleSignOn(deps, tenantId);
  try {
    return await takeAnswer(deps, tenantId, sso, form, cookies, device);
  } catch (error) {
    if (error instanceof BillingError) await noteRefusal(deps, tenantId, device, error);
    throw error;
  }
}

const NOTED_LENGTH_MAX = 200;

/** Nobody knows whose answer it was, so the row names no person. */
async function noteRefusal(
  { pool, loginLimit }: ApiDeps,
  tenant_id: string,
  { ip }: Device,
  { code, message }: BillingError,
): Promise<void> {
  if (!(await loginLimit.countRefusedAnswer(tenant_id, ip))) return;
  const reason = code === 'saml_refused' ? 'saml_refused' : 'no_account';
  const details = { reason, message: message.slice(0, NOTED_LENGTH_MAX) };
  await noteAccess(pool, { id: '', tenant_id }, { action: 'login_failed', details });
}

async function takeAnswer(
  deps: ApiDeps,
  tenantId: string,
  { ends, config }: SingleSignOn,
  form: SamlResponseBody,
  cookies: string | undefined,
  device: Device,
): Promise<Redirect> {
  const assertion = await verifiedAssertion(ends, form.SAMLResponse, deps.clock.now());
  const email = emailOf(assertion, config);
  if (!isBoundTo(assertion.in_response_to, cookies))
    throw refused('it does not answer a login of this browser');
  const account = await deps.pool.begin(async (tx) => {
    const state = await claimRequest(tx, deps, tenantId, assertion);
    if (state !== form.RelayState) throw refused('RelayState was changed');
    await claimAssertion(tx, deps, tenantId, assertion);
    const user = await findPerson(tx, tenantId, email);
    return { id: user ?? (await admitPerson(tx, deps, tenantId, email, config)), state };
  });
  const person = { id: account.id, tenant_id: tenantId };
  const session = await deps.sessions.open(deps.pool, person, 'identity_provider', device);
  const { token, refresh_token, expires_at } = session;
  const answer = { token, refresh_token, expires_at, user_id: account.id, tenant_id: tenantId };
  return {
    location: `${deps.publicUrl}/sso#${String(new URLSearchParams({ ...answer, state: account.state }))}`,
    cookie: spentCookie(assertion.in_response_to, pathOf(ends.acs_url)),
  };
}

const pathOf = (url: string): string => new URL(url).pathname;

interface SingleSignOn {
  readonly ends: SsoEnds;
  readonly config: SamlConfig;
}

/** The same 404 for an unknown tenant and for one without single sign-on. */
async function singleSignOn(
  { pool, publicUrl, singleSignOn: isOffered }: ApiDeps,
  tenantId: string,
): Promise<SingleSignOn> {
  const config = await readSamlConfig(pool, tenantId);
  const idp_certificates = certificatesOf(config.idp_certificate);
  if (!isOffered || !isServing(config) || idp_certificates === null)
    throw notFound('Single sign-on of the tenant', tenantId);
  const base = `${publicUrl}/v1/auth/saml/${encodeURIComponent(tenantId)}`;
  const { idp_entity_id, idp_sso_url } = config;
  return {
    config,
    ends: {
      entity_id: `${base}/metadata`,
      acs_url: `${base}/acs`,
      idp_entity_id,
      idp_sso_url,
      idp_certificates,
    },
  };
}

/**
 * The state stored at the start of the login; 401 if the request is unknown, too old, or already answered.
 */
async function claimRequest(
  tx: Transaction,
  { clock }: ApiDeps,
  tenantId: string,
  { in_response_to }: Assertion,
): Promise<string> {
  const state = await takeRequest(tx, tenantId, in_response_to, isoTime(clock.now()));
  if (state === null) throw refused('it does not answer a pending login');
  return state;
}

async function claimAssertion(
  tx: Transaction,
  { clock }: ApiDeps,
  tenant_id: string,
  { id: assertion_id, expires_at_ms }: Assertion,
): Promise<void> {
  await deleteExpiredAssertions(tx, isoTime(clock.now()));
  const row = { tenant_id, assertion_id, expires_at: isoTime(expires_at_ms) };
  if (!(await insertAssertion(tx, row))) throw refused('the assertion was used before');
}

function emailOf(assertion: Assertion, { email_attribute }: SamlConfig): string {
  const email = email_attribute === '' ? assertion.name_id : assertion.attributes[email_attribute];
  if (email === undefined || !/^[^@\s"<>]{1,64}@[^@\s"<>]{1,190}$/.test(email))
    throw refused('it contains no e-mail address');
  return email.toLowerCase();
}

const forbidden = (message: string): BillingError =>
  new BillingError('forbidden', 'permission_denied', message);

/** The person's id, or null if no account has the address. Refuses an account of another tenant. */
async function findPerson(
  tx: Transaction,
  tenantId: string,
  email: string,
): Promise<string | null> {
  const user = await findAccount(tx, email);
  if (user === null) return null;
  if (user.tenant_id !== tenantId || user.type !== 'user')
    throw forbidden('There is no account for this person, and none can be created.');
  return user.id;
}

/** Creates the account of a person whose domain the tenant has verified; 403 for all others. */
async function admitPerson(
  tx: Transaction,
  { ids, clock, settings }: ApiDeps,
  tenantId: string,
  email: string,
  { verified_domains, default_role }: SamlConfig,
): Promise<string> {
  const domain = email.slice(email.lastIndexOf('@') + 1);
  if (!verified_domains.includes(domain))
    throw forbidden('There is no account for this person, and none can be created.');
  const { max_users } = await tenantLimits(tx, tenantId, settings);
  if ((await countPeople(tx, tenantId)) >= max_users)
    throw forbidden(`The tenant may have ${max_users} people.`);
  const id = ids.next('user');
  const at = isoTime(clock.now());
  await insertUser(tx, {
    id,
    tenant_id: tenantId,
    email,
    name: null,
    type: 'user',
    roles: [default_role],
    metadata: {},
    environment_ids: null,
    password_hash: null,
    ...{ created_at: at, updated_at: at, created_by: id, updated_by: id },
  });
  return id;
}
