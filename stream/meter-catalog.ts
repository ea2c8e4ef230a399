import { BillingError } from '../domain/errors.ts';
import { compileMeter, type CompiledMeter } from '../domain/metering/meter-event.ts';
import type { MeterVersion } from '../domain/metering/usage.ts';
import type { Logger } from '../platform/log.ts';
import type { Pool } from '../postgres/client.ts';
import {
  listenForCatalogChanges,
  readCatalogVersion,
  readMeterCatalog,
  setVersionsAside,
  type FailedVersion,
  type MeterCatalogSnapshot,
} from '../postgres/tables/meter-versions.ts';

/** A meter version that the stream evaluates. */
export interface ActiveMeter {
  readonly version: MeterVersion;
  readonly evaluate: CompiledMeter;
  /** COUNT without filters and dimensions does not read the properties, so they need not be parsed. */
  readonly needsProperties: boolean;
}

/** The active meter versions as of one catalog number. Immutable. */
export class MeterCatalog {
  readonly catalogVersion: number;
  /** Tenant, environment, event name. */
  readonly #meters = new Map<string, Map<string, Map<string, ActiveMeter[]>>>();

  constructor(catalogVersion: number, meters: readonly ActiveMeter[]) {
    this.catalogVersion = catalogVersion;
    for (const meter of meters) {
      const { tenant_id, environment_id, spec } = meter.version;
      const environments = entryOf(
        this.#meters,
        tenant_id,
        () => new Map<string, Map<string, ActiveMeter[]>>(),
      );
      const names = entryOf(environments, environment_id, () => new Map<string, ActiveMeter[]>());
      entryOf(names, spec.event_name, (): ActiveMeter[] => []).push(meter);
    }
  }

  metersOf(tenantId: string, environmentId: string, eventName: string): readonly ActiveMeter[] {
    return this.#meters.get(tenantId)?.get(environmentId)?.get(eventName) ?? NO_METERS;
  }
}

const NO_METERS: readonly ActiveMeter[] = [];

export interface MeterCatalogDeps {
  readonly pool: Pool;
  readonly log: Logger;
  /** How often the catalog's number is polled, in case a notice was lost. */
  readonly pollMs?: number;
}

/**
 * The stream's copy of the meter catalog. A notice refreshes it at once, and polling covers lost notices.
 * `atLeast` is the rule of assignment: no partition goes back to an older catalog.
 */
export class MeterCatalogCache {
  readonly #deps: MeterCatalogDeps;
  readonly #onChange: () => void;
  readonly #compiled = new Map<string, ActiveMeter>();
  #current = new MeterCatalog(0, []);
  #listening: { stop(): Promise<void> } | undefined;
  #timer: NodeJS.Timeout | undefined;
  #refreshing: Promise<void> = Promise.resolve();

  /** `onChange` is called after the catalog has changed. */
  constructor(deps: MeterCatalogDeps, onChange: () => void) {
    this.#deps = deps;
    this.#onChange = onChange;
  }

  async open(): Promise<void> {
    await this.#refresh();
    const notice = () => void this.#refreshQuietly();
    this.#listening = await listenForCatalogChanges(this.#deps.pool, notice);
    this.#timer = setInterval(() => void this.#poll(), this.#deps.pollMs ?? 2_000);
    this.#timer.unref();
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#listening?.stop().catch(() => {});
    await this.#refreshing.catch(() => {});
  }

  current(): MeterCatalog {
    return this.#current;
  }

  /** The catalog, refreshed first when it is older than `catalogVersion`. */
  async atLeast(catalogVersion: number): Promise<MeterCatalog> {
    if (this.#current.catalogVersion < catalogVersion) await this.#refresh();
    return this.#current;
  }

  /**
   * Meters of these versions, for replays of versions that may have ended in the catalog. Versions that do
   * not compile are omitted: they are set aside, and their rows would never be read.
   */
  compile(versions: readonly MeterVersion[]): ActiveMeter[] {
    return this.#compileAll(versions).active;
  }

  /**
   * Sets aside versions that could not be evaluated, notifies their tenants, and loads the catalog without
   * them. When this resolves, the mark is durable, so progress may move past the events that they did not
   * count.
   */
  async setAside(failed: readonly FailedVersion[]): Promise<void> {
    const aside = await setVersionsAside(this.#deps.pool, failed);
    for (const { id, reason } of failed)
      if (aside.includes(id))
        this.#deps.log.error({ meter_version_id: id, reason }, 'meter is set aside');
    await this.#refresh();
  }

  #compileAll(versions: readonly MeterVersion[]) {
    const active: ActiveMeter[] = [];
    const failed: FailedVersion[] = [];
    for (const version of versions) {
      try {
        active.push(this.#compiled.get(version.id) ?? compileActiveMeter(version));
      } catch (error) {
        failed.push({ id: version.id, reason: whyItFailed(error) });
      }
    }
    return { active, failed };
  }

  async #poll(): Promise<void> {
    try {
      const version = await readCatalogVersion(this.#deps.pool);
      if (version > this.#current.catalogVersion) await this.#refresh();
    } catch (error) {
      this.#deps.log.warn({ err: error }, 'meter catalog could not be read');
    }
  }

  async #refreshQuietly(): Promise<void> {
    await this.#refresh().catch((error: unknown) =>
      this.#deps.log.warn({ err: error }, 'meter catalog could not be read'),
    );
  }

  /** One at a time: answers in another order must not restore an older catalog. */
  #refresh(): Promise<void> {
    const refreshed = this.#refreshing.catch(() => {}).then(() => this.#readCatalog());
    this.#refreshing = refreshed;
    return refreshed;
  }

  /** Versions that do not compile are set aside before any batch is evaluated without them. */
  async #readCatalog(): Promise<void> {
    for (;;) {
      const snapshot = await readMeterCatalog(this.#deps.pool);
      if (snapshot.catalog_version <= this.#current.catalogVersion) return;
      const { active, failed } = this.#compileAll(snapshot.versions);
      if (failed.length === 0) return this.#take(snapshot, active);
      for (const { id, reason } of failed)
        this.#deps.log.error({ meter_version_id: id, reason }, 'meter does not compile');
      await setVersionsAside(this.#deps.pool, failed);
    }
  }

  #take(snapshot: MeterCatalogSnapshot, active: readonly ActiveMeter[]): void {
    this.#compiled.clear();
    for (const meter of active) this.#compiled.set(meter.version.id, meter);
    this.#current = new MeterCatalog(snapshot.catalog_version, active);
    this.#onChange();
  }
}

/** Throws if a version does not compile: it was accepted under an earlier rule, or is damaged. */
export function compileActiveMeter(version: MeterVersion): ActiveMeter {
  const { aggregation, filters } = version.spec;
  const needsProperties =
    aggregation.type !== 'COUNT' || filters.length > 0 || version.dimensions.length > 0;
  return { version, needsProperties, evaluate: compileMeter(version) };
}

/** Versions that threw during evaluation: a bug or a damaged version. An event alone never causes this. */
export class MetersFailed extends Error {
  readonly failed: readonly FailedVersion[];

  constructor(failed: readonly FailedVersion[]) {
    super(`Meter versions failed: ${failed.map(({ id, reason }) => `${id}: ${reason}`).join(' ')}`);
    this.name = 'MetersFailed';
    this.failed = failed;
  }
}

/** As `compileActiveMeter`; throws `MetersFailed`. */
export function compileOrFail(version: MeterVersion): ActiveMeter {
  try {
    return compileActiveMeter(version);
  } catch (error) {
    throw new MetersFailed([{ id: version.id, reason: whyItFailed(error) }]);
  }
}

/** The reason for the tenant: the refusal of the meter's definition, without details of our own errors. */
export function whyItFailed(error: unknown): string {
  if (error instanceof BillingError) return `${error.message}.`;
  return 'The meter could not be evaluated because of an internal error.';
}

function entryOf<Key, Value>(map: Map<Key, Value>, key: Key, make: () => Value): Value {
  let value = map.get(key);
  if (value === undefined) map.set(key, (value = make()));
  return value;
}
