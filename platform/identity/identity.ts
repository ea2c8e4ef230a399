import type { Reach } from '../../domain/access/reach.ts';

/** Caller and scope of a request. */
export type Identity = KeyIdentity | PersonIdentity | CustomerIdentity | Nobody;

interface CallerRights extends Reach {
  readonly tenant_id: string;
  readonly environment_id: string;
  readonly user_id: string;
  readonly user_type: 'user' | 'service_account';
  readonly roles: readonly string[];
  /** `<entity>:<action>`, see domain/access/permissions.ts. */
  readonly permissions: readonly string[];
}

/** An API key. It is bound to exactly one environment. */
export interface KeyIdentity extends CallerRights {
  readonly kind: 'key';
  readonly key_id: string;
  /** For a key that is used in browsers: it may send events, and every other route treats it as unknown. */
  readonly publishable?: PublishableLimits;
}

/** What a publishable key may send; null means unlimited. */
export interface PublishableLimits {
  readonly allowed_event_names: readonly string[] | null;
  readonly external_customer_id: string | null;
}

/** A person who is logged in. */
export interface PersonIdentity extends CallerRights {
  readonly kind: 'person';
  readonly key_id: null;
  readonly session_id: string;
  /** Whether the person proved who they are lately (tenancy 14.5.8). */
  readonly has_recent_login: boolean;
}

/** An end customer in the portal, who has no permissions and sees only their own records. */
export interface CustomerIdentity extends CallerRights {
  readonly kind: 'customer';
  readonly key_id: null;
  readonly session_id: string;
  readonly customer_id: string;
}

/** The caller of a public route, which checks no credential. */
export interface Nobody extends CallerRights {
  readonly kind: 'nobody';
  readonly key_id: null;
}

export const NOBODY: Nobody = {
  kind: 'nobody',
  tenant_id: '',
  environment_id: '',
  key_id: null,
  user_id: '',
  user_type: 'user',
  roles: [],
  permissions: [],
  environment_ids: [],
  environment_type: null,
};
