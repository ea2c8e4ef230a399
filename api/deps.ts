import type { EventReader } from '../clickhouse/reading/event-reader.ts';
import type { UsageReader } from '../domain/metering/usage.ts';
import type { Clock } from '../platform/clock.ts';
import type { PortalSessions } from '../platform/identity/portal-sessions.ts';
import type { Sessions } from '../platform/identity/sessions.ts';
import type { Ids } from '../platform/ids.ts';
import type { Logger } from '../platform/log.ts';
import type { SecretBox } from '../platform/secret-box.ts';
import type { Pool } from '../postgres/client.ts';
import type { CommandClaim } from '../postgres/tables/idempotency.ts';
import type { TenantLimits } from '../schemas/settings/tenancy.ts';
import type { LoginLimit } from '../platform/identity/login-limit.ts';
import type { PartitionLag } from '../postgres/tables/stream-lag.ts';

/** What commands and routes need from outside. `main/runtime.ts` builds it; tests build their own. */
export interface BillingDeps {
  readonly pool: Pool;
  /** Idempotency keys that a command holds (`runCommand`). */
  readonly claims?: readonly CommandClaim[];
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Logger;
  readonly usageReader: UsageReader;
  /** Seals credentials that are kept. */
  readonly secretBox: SecretBox;
  /** Makes every process forget an API key that was changed or deleted. */
  forgetApiKey(keyId: string): Promise<void>;
  readonly settings: BillingSettings;
}

/** What routes have beside it. */
export interface ApiDeps extends BillingDeps {
  readonly sessions: Sessions;
  readonly portalSessions: PortalSessions;
  /** Where browsers reach the product, without a slash at the end. */
  readonly publicUrl: string;
  /** Whether tenants may set up single sign-on at all. */
  readonly singleSignOn: boolean;
  readonly loginLimit: LoginLimit;
  /** Whether there is a mail server: without it sign-ups are believed, and nobody resets their password. */
  readonly sendsEmail: boolean;
  /** `invited`: nobody makes a tenant by signing up. */
  readonly signUp: 'open' | 'invited';
  /** Of the support widget; null where there is none. */
  readonly supportChatSecret: string | null;
  readonly eventReader: EventReader;
  /** How far the stream is behind the log. Rejects while the log can not be reached. */
  streamLag(): Promise<readonly PartitionLag[]>;
  /** Whether events are being replayed into the usage store: what it answers may be partial. */
  isUsageUnderRepair(): Promise<boolean>;
  /** Appends what corrections are waiting for the event log. Never throws: a job tries again. */
  logCorrections(): Promise<void>;
}

/** Values of the configuration that rules depend on. */
export interface BillingSettings {
  /** How long after a period's end its usage may still arrive before the invoice is finalized. */
  readonly grace_seconds: number;
  /** The largest values that `tenant_config` may have. */
  readonly tenant_limits_max: TenantLimits;
}
