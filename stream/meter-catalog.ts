import { compileMeter, type CompiledMeter, type Metering } from '../domain/metering/meter-event.ts';
import type { MeterVersion } from '../domain/metering/usage.ts';
import type { Logger } from '../platform/log.ts';
import type { Pool } from '../postgres/client.ts';
import {
  listenForCatalogChanges,
  readCatalogVersion,
  readMeterCatalog,
  type MeterCatalogSnapshot,
} from '../postgres/tables/meter-versions.ts';

/** A meter version that is evaluated. */
export interface ActiveMeter {
  readonly version: MeterVersion;
  readonly evaluate: CompiledMeter;
  /** COUNT without filters and dimensions does not look at the properties: they need not be parsed. */
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
  /** How often the catalog's number is compared in case a notice was lost. */
  readonly pollMs?: number;
}

/**
 * The stream's copy of the meter catalog. A notice makes it fresh at once, a poll stands behind the
 * notice, and `atLeast` is the rule of assignment: no partition goes back to an older catalog.
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

  /** Meters of these versions, for replays and backfills of versions that the catalog may have ended. */
  compile(versions: readonly MeterVersion[]): ActiveMeter[] {
    return versions.map(
      (version) => this.#compiled.get(version.id) ?? compileActiveMeter(version, this.#deps.log),
    );
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

  /** One at a time: answers that overtake each other must not bring an older catalog back. */
  #refresh(): Promise<void> {
    const refreshed = this.#refreshing
      .catch(() => {})
      .then(async () => this.#take(await readMeterCatalog(this.#deps.pool)));
    this.#refreshing = refreshed;
    return refreshed;
  }

  #take(snapshot: MeterCatalogSnapshot): void {
    if (snapshot.catalog_version <= this.#current.catalogVersion) return;
    const active = this.compile(snapshot.versions);
    this.#compiled.clear();
    for (const meter of active) this.#compiled.set(meter.version.id, meter);
    this.#current = new MeterCatalog(snapshot.catalog_version, active);
    this.#onChange();
  }
}

/** One version that does not compile is a bug of its creation; it must not stop everybody's stream. */
export function compileActiveMeter(version: MeterVersion, log: Logger): ActiveMeter {
  const { aggregation, filters } = version.spec;
  const needsProperties =
    aggregation.type !== 'COUNT' || filters.length > 0 || version.dimensions.length > 0;
  try {
    return { version, needsProperties, evaluate: compileMeter(version) };
  } catch (error) {
    log.error({ err: error, meter_version_id: version.id }, 'meter does not compile');
    return { version, needsProperties, evaluate: () => EXPRESSION_FAILED };
  }
}

const EXPRESSION_FAILED: Metering = { outcome: 'unmetered', reason: 'expression_failed' };

function entryOf<Key, Value>(map: Map<Key, Value>, key: Key, make: () => Value): Value {
  let value = map.get(key);
  if (value === undefined) map.set(key, (value = make()));
  return value;
}
