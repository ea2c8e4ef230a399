import type { EventReader } from '../clickhouse/reading/event-reader.ts';
import type { WatermarkVector } from '../domain/metering/position.ts';
import type { UsageReader } from '../domain/metering/usage.ts';
import type { Cache } from '../platform/cache/cache.ts';
import type { Clock } from '../platform/clock.ts';
import type { RequestLog } from '../platform/http/request-log.ts';
import type { PortalSessions } from '../platform/identity/portal-sessions.ts';
import type { Sessions } from '../platform/identity/sessions.ts';
import type { Ids } from '../platform/ids.ts';
import type { Logger } from '../platform/log.ts';
import type { Outbound } from '../platform/outbound/guarded-request.ts';
import type { PdfRenderer } from '../platform/pdf/pdf-renderer.ts';
import type { SecretBox } from '../platform/secret-box.ts';
import type { Pool, Scope, Transaction } from '../postgres/client.ts';
import type { CommandClaim } from '../postgres/tables/idempotency.ts';
import type { CheckoutParams, CheckoutRecord, CheckoutSession } from '../schemas/checkout.ts';
import type { InvoiceRecord } from '../schemas/invoice.ts';
import type { SubscriptionRow } from '../schemas/subscription.ts';
import type { TenantLimits } from '../schemas/settings/tenancy.ts';
import type { PartitionParts } from '../clickhouse/reading/most-parts.ts';
import type { ServiceFacts } from '../postgres/tables/service-facts.ts';
import type { LoginLimit } from '../platform/identity/login-limit.ts';
import type { PartitionLag } from '../postgres/tables/stream-lag.ts';

/** External dependencies of commands and routes. `main/runtime.ts` builds them; tests build their own. */
export interface BillingDeps {
  readonly pool: Pool;
  /** Idempotency keys held by a command (`runCommand`). */
  readonly claims?: readonly CommandClaim[];
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Logger;
  readonly usageReader: UsageReader;
  /** Encrypts stored credentials. */
  readonly secretBox: SecretBox;
  /** Makes every process drop a changed or deleted API key from its cache. */
  forgetApiKey(keyId: string): Promise<void>;
  readonly settings: BillingSettings;
  /** What a payment of a checkout session completes. */
  readonly checkoutGates: CheckoutGates;
}

/** Dependencies of routes only. */
export interface ApiDeps extends BillingDeps {
  /**
   * The clock of the process. `clock` is that of the customer whom a request is about, which may be a test
   * clock; what is not owned by customers (links, sessions, deliveries) lives by this one.
   */
  readonly processClock: Clock;
  readonly sessions: Sessions;
  readonly portalSessions: PortalSessions;
  /** Base URL at which browsers reach the product, without a trailing slash. */
  readonly publicUrl: string;
  /** Whether tenants may configure single sign-on. */
  readonly singleSignOn: boolean;
  readonly loginLimit: LoginLimit;
  /**
   * Whether a mail server is configured. Without one, sign-ups are not verified and passwords cannot be
   * reset.
   */
  readonly sendsEmail: boolean;
  /** `invited` disables creating a tenant by signing up. */
  readonly signUp: 'open' | 'invited';
  /** Secret of the support widget; null if not configured. */
  readonly supportChatSecret: string | null;
  readonly pdf: PdfRenderer;
  readonly outbound: Outbound;
  readonly eventReader: EventReader;
  readonly requestLog: Pick<RequestLog, 'flush'>;
  /** Results that may be lost at any time. */
  readonly cache: Pick<Cache, 'get' | 'set'>;
  /** Current heads of the event log: every accepted event lies below them. Rejects while it is unreachable. */
  readLogHeads(): Promise<WatermarkVector>;
  /** How far the stream is behind the log. Rejects while the log is unreachable. */
  streamLag(): Promise<readonly PartitionLag[]>;
  /** Facts about the log, the stream and the jobs, of all tenants together. */
  serviceFacts(): Promise<ServiceFacts>;
  /** The ClickHouse partition with the most parts. Rejects while ClickHouse does not answer. */
  mostParts(): Promise<PartitionParts | null>;
  /** Whether events are being replayed into the usage store: its answers may be partial. */
  isUsageUnderRepair(): Promise<boolean>;
  /** Appends pending corrections to the event log. Never throws: a job retries. */
  logCorrections(): Promise<void>;
  /** Fills an environment with generated data. Never throws: the outcome is stored. */
  seedEnvironment(start: SeedStart): Promise<void>;
}

/** An environment to fill with generated data, and the key to do it with. */
export interface SeedStart {
  readonly scope: Scope;
  readonly user_id: string;
  readonly api_key: string;
  readonly key_id: string;
  readonly seed: number;
  readonly events: number;
}

/** Fills the environment of the key through the public API. */
export type FillEnvironment = (run: {
  readonly api_key: string;
  readonly seed: number;
  readonly events: number;
  /** The time at which the data ends, in milliseconds. */
  readonly until: number;
  onProgress(step: string, sent: number): void;
}) => Promise<unknown>;

/** Configuration values that rules use. */
export interface BillingSettings {
  /** How long after a period's end late usage is still accepted before the invoice is finalized. */
  readonly grace_seconds: number;
  /** Upper limits of the values in `tenant_config`. */
  readonly tenant_limits_max: TenantLimits;
  /** Receivers that may have a private address, outside production. */
  readonly outbound_allowed_hosts: readonly string[];
  /** For how many days an ended delivery of a notification is kept; absent: 90. */
  readonly webhook_delivery_days?: number;
  /** Whether the test gateway works in production environments; absent: no. */
  readonly test_gateway_in_production?: boolean;
  /** Address of a replacement for Stripe, for tests; absent: Stripe itself. */
  readonly stripe_api_url?: string;
}

/** Who acts in which environment. */
interface GateCaller {
  readonly scope: Scope;
  readonly user_id: string;
}

/** What waits for a payment: the draft that is paid, and what is done once it is. */
export interface Gate {
  readonly action: CheckoutRecord['action'];
  /** A stored draft with the source type `checkout`. Its amount stays as it is. */
  readonly invoice: InvoiceRecord;
  /** At most one active session has it. */
  readonly target_key: string;
  /** The request that is carried out after the payment. */
  readonly configuration: Readonly<Record<string, unknown>>;
}

/** A gated invoice and its subscription, both locked. */
export interface GatedInvoice {
  readonly invoice: InvoiceRecord;
  readonly subscription: SubscriptionRow | null;
}

/**
 * Checkout sessions that wait for a payment before something is done (money 11). Wallets, invoices and
 * subscriptions open such gates; payments complete or discard them. The folder `checkout` knows all of them.
 */
export interface CheckoutGates {
  /** Stores a session and the payment of its draft, in the transaction that stores the draft. */
  open(
    tx: Transaction,
    deps: BillingDeps,
    caller: GateCaller,
    checkout: CheckoutParams,
    gate: Gate,
  ): Promise<CheckoutRecord>;
  /** Sends the payment of a stored session to the gateway, after the commit. Returns the session as answered. */
  offer(deps: BillingDeps, caller: GateCaller, sessionId: string): Promise<CheckoutSession>;
  /** The session as stored, as answered. The gateway is not asked. */
  show(
    deps: Pick<BillingDeps, 'pool' | 'clock' | 'secretBox'>,
    scope: Scope,
    session: CheckoutRecord,
  ): Promise<CheckoutSession>;
  /** Issues the paid draft and does what waited for it. A refusal leaves the transaction as it was. */
  complete(
    tx: Transaction,
    deps: BillingDeps,
    caller: GateCaller,
    session: CheckoutRecord,
    gated: GatedInvoice,
  ): Promise<GatedInvoice>;
  /** Stores a payment page in place of the declined charge of a saved method; the session stays active. */
  offerPage(
    tx: Transaction,
    deps: BillingDeps,
    caller: GateCaller,
    session: CheckoutRecord,
    invoice: InvoiceRecord,
  ): Promise<void>;
  /** Removes everything that waited: the draft is voided and archived, money that was paid goes back. */
  discard(
    tx: Transaction,
    deps: BillingDeps,
    caller: GateCaller,
    session: CheckoutRecord,
    gated: GatedInvoice,
  ): Promise<void>;
}

/** What a question about usage needs: the stores and the time. */
export type UsageDeps = Pick<ApiDeps, 'pool' | 'clock' | 'usageReader' | 'eventReader'>;

/** What a balance that is shown needs: usage, and the last usage that was read. */
export type BalanceDeps = UsageDeps & Pick<ApiDeps, 'cache'>;
