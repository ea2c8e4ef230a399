import { z } from 'zod';
import { country } from './countries.ts';
import {
  instant,
  integer,
  matching,
  name,
  optionalId,
  optionalMetadata,
  optionalName,
  optionalText,
  pairs,
  recordFields,
  status,
  text,
  time,
} from './primitives.ts';
import { searchSchemas } from './search.ts';

export const USER_TYPES = ['user', 'service_account'] as const;
export const API_KEY_TYPES = ['private_key', 'publishable_key'] as const;

const nullableText = z.string().nullable();
const emailAddress = text().check(z.email('must be an e-mail address'));
const password = text(200).min(8, 'needs at least 8 characters');

/** Without a password, the user logs in with this session first and through an identity provider later. */
export const SignUpBody = z.object({
  email: emailAddress,
  password: password.or(z.literal('')).nullish(),
  tenant_name: optionalName(),
});
export type SignUpBody = z.output<typeof SignUpBody>;

/** The first user of an installation may have a localhost address. */
const accountAddress = emailAddress.or(
  matching(/^[A-Za-z0-9._-]{1,64}@localhost$/, 74, 'must be an e-mail address'),
);

export const LogInBody = z.object({ email: accountAddress, password });

const oneTimeToken = text(200).min(1);

/**
 * `password`: the password of the sign-up, if it had one. This prevents completing another user's sign-up.
 */
export const VerifyBody = z.object({
  token: oneTimeToken,
  password: password.or(z.literal('')).nullish(),
});
export type VerifyBody = z.output<typeof VerifyBody>;

export const ForgotPasswordBody = z.object({ email: accountAddress });
export const ResetPasswordBody = z.object({ token: oneTimeToken, new_password: password });
export const ChangePasswordBody = z.object({
  // Of any length: a wrong one counts as a guess.
  current_password: text(200).min(1),
  new_password: password,
});

export const RefreshBody = z.object({ refresh_token: text(200).min(1) });

/**
 * A session. The token goes into `Authorization: Bearer`; the refresh token is exchanged for the next
 * session.
 */
export const SessionAnswer = z
  .object({
    token: z.string(),
    expires_at: instant,
    refresh_token: z.string(),
    user_id: z.string(),
    tenant_id: z.string(),
  })
  .meta({ id: 'Session' });

/** A login session of a user. */
export const PersonSession = z
  .object({
    id: z.string(),
    created_at: instant,
    /** When the session was opened or its refresh token was last exchanged (every 15 minutes of use). */
    last_used_at: instant,
    expires_at: instant,
    opened_by: z.enum(['password', 'identity_provider']),
    ip: nullableText,
    user_agent: nullableText,
    /** Whether this session sent the request. */
    is_current: z.boolean(),
  })
  .meta({ id: 'PersonSession' });
export type PersonSession = z.infer<typeof PersonSession>;
export const PersonSessionSearch = searchSchemas({
  fields: { created_at: 'time' },
  filters: () => ({}),
});
/** `true`: the current session stays open. */
export const EndSessionsQuery = z.object({ keep_current: z.enum(['true', 'false']).optional() });

export const Address = z
  .object({
    address_line1: z.string(),
    address_line2: z.string(),
    address_city: z.string(),
    address_state: z.string(),
    address_postal_code: z.string(),
    address_country: z.string(),
  })
  .meta({ id: 'Address' });

export const BillingDetails = z
  .object({ email: nullableText, help_email: nullableText, phone: nullableText, address: Address })
  .meta({ id: 'BillingDetails' });
export type BillingDetails = z.infer<typeof BillingDetails>;

export const Tenant = z
  .object({
    id: z.string(),
    name: z.string(),
    status,
    metadata: z.record(z.string(), z.string()),
    billing_details: BillingDetails,
    created_at: instant,
    updated_at: instant,
  })
  .meta({ id: 'Tenant' });
export type Tenant = z.infer<typeof Tenant>;

const AddressBody = z.object({
  address_line1: optionalText(),
  address_line2: optionalText(),
  address_city: optionalText(100),
  address_state: optionalText(100),
  address_postal_code: optionalText(20),
  address_country: country,
});
/** An empty name changes nothing; metadata and billing details are replaced completely when sent. */
export const UpdateTenantBody = z.object({
  name: optionalName(),
  metadata: optionalMetadata,
  billing_details: z
    .object({
      email: emailAddress.or(z.literal('')).nullish(),
      help_email: emailAddress.or(z.literal('')).nullish(),
      phone: optionalText(50),
      address: AddressBody.nullish(),
    })
    .nullish(),
});
export type UpdateTenantBody = z.output<typeof UpdateTenantBody>;

const userFields = {
  id: z.string(),
  email: nullableText,
  name: nullableText,
  type: z.enum(USER_TYPES),
  roles: z.array(z.string()),
  metadata: z.record(z.string(), z.string()),
  /** For a user: the environments that the user is limited to; null means all of the tenant. */
  environment_ids: z.array(z.string()).nullable(),
  tenant: Tenant,
};
export const User = z.object(userFields).meta({ id: 'User' });
export type User = z.infer<typeof User>;
/** The password of an invited user is returned only here. */
export const CreatedUser = z
  .object({ ...userFields, password: nullableText })
  .meta({ id: 'CreatedUser' });
export type CreatedUser = z.infer<typeof CreatedUser>;

const roles = z.array(name(100)).max(20);
export const CreateUserBody = z.object({
  type: z.enum(USER_TYPES),
  email: emailAddress.or(z.literal('')).nullish(),
  name: optionalName(),
  roles: roles.nullish(),
});
export type CreateUserBody = z.output<typeof CreateUserBody>;
export const RenameUserBody = z.object({ name: name() });
export const UpdateRolesBody = z.object({ roles });
/** Metadata is merged key by key; null removes a key. */
export const UpdateMeBody = z.object({
  name: optionalName(),
  metadata: pairs(text(10_000).nullable(), 256).nullish(),
});
export type UpdateMeBody = z.output<typeof UpdateMeBody>;

export const UserSearch = searchSchemas({
  fields: { name: 'text', email: 'text', type: 'text', created_at: 'time', updated_at: 'time' },
  filters: (kind) => ({
    user_ids: kind.list(),
    /** Default: service accounts. */
    type: kind.oneOf(USER_TYPES),
    roles: kind.list(),
  }),
});

/** Token that the support widget verifies, so that users cannot impersonate others. */
export const SupportChatToken = z
  .object({ token: z.string(), expires_at: instant })
  .meta({ id: 'SupportChatToken' });

export const RoleQuery = z.object({ user_type: z.enum(USER_TYPES).optional() });
export const Role = z
  .object({
    id: z.string(),
    name: z.string(),
    description: z.string(),
    permissions: z.record(z.string(), z.array(z.string())),
  })
  .meta({ id: 'Role' });

const PERMISSION_EXPECTED = 'expected <entity>:read or <entity>:write';
/** The list that consoles send with every key. It does not narrow the key. */
export const isConsolePermissions = (list: readonly string[]): boolean =>
  list.length === 2 && list[0] === 'read' && list[1] === 'write';

export const CreateApiKeyBody = z.object({
  name: name(),
  type: z.enum(API_KEY_TYPES),
  expires_at: time.nullish(),
  /** The service account that owns the key; without it the caller owns the key. */
  service_account_id: optionalId,
  /** Narrows what the owner's roles allow: `<entity>:read` or `<entity>:write`. */
  permissions: z
    .array(matching(/^(([a-z_]+|\*):)?(read|write)$/, 255, PERMISSION_EXPECTED))
    .max(100)
    .superRefine((list, context) => {
      const bare = list.findIndex((permission) => !permission.includes(':'));
      if (bare >= 0 && !isConsolePermissions(list))
        context.addIssue({ code: 'custom', path: [bare], message: PERMISSION_EXPECTED });
    })
    .nullish(),
  /** For a publishable key: the only event names that it may send. */
  allowed_event_names: z.array(name(1000)).min(1).max(100).nullish(),
  /** For a publishable key: the only customer for whom it may send events. */
  external_customer_id: optionalText(1000),
});
export type CreateApiKeyBody = z.output<typeof CreateApiKeyBody>;

/** How long the old key still works in addition to the new one. */
export const RotateApiKeyBody = z.object({
  overlap_seconds: integer
    .min(0)
    .max(30 * 86_400)
    .nullish(),
});

/** An API key without its secret. */
export const ApiKey = z
  .object({
    ...recordFields,
    name: z.string(),
    type: z.enum(API_KEY_TYPES),
    provider: z.string(),
    /** Part of the key, enough to identify it. */
    display_id: z.string(),
    roles: z.array(z.string()),
    permissions: z.array(z.string()),
    /** For a publishable key: the event names and the customer that it may send for; null means any. */
    allowed_event_names: z.array(z.string()).nullable(),
    external_customer_id: nullableText,
    /**
     * The key that created this key: when it ends, this key ends too. Null means created by a logged-in user.
     */
    minted_by: nullableText,
    user_id: nullableText,
    user_type: z.enum(USER_TYPES),
    service_account_name: nullableText,
    expires_at: instant.nullable(),
    last_used_at: instant.nullable(),
  })
  .meta({ id: 'ApiKey' });
export type ApiKey = z.infer<typeof ApiKey>;
/** The key itself is returned only here. */
export const CreatedApiKey = z
  .object({ secret: ApiKey, api_key: z.string() })
  .meta({ id: 'CreatedApiKey' });

export const ApiKeySearch = searchSchemas({
  fields: {
    name: 'text',
    type: 'text',
    expires_at: 'time',
    last_used_at: 'time',
    created_at: 'time',
  },
  filters: (kind) => ({
    /** Default: private keys. */
    type: kind.oneOf(API_KEY_TYPES),
  }),
});
