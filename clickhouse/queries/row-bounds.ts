import type { WatermarkVector } from '../../domain/metering/position.ts';

/** Which rows count: position < the watermark of their partition, and < `liveUntil` of their version. */
export interface RowBounds {
  /** Null: all stored rows, for dashboards. */
  readonly watermarks: WatermarkVector | null;
  readonly liveUntil: ReadonlyMap<string, WatermarkVector>;
}

/** A condition with the parameters it names. */
export interface Condition {
  readonly sql: string;
  readonly params: Readonly<Record<string, unknown>>;
}

/**
 * Rows of `meter_usage_v1` that count below the bounds. A row is excluded if it is at or beyond them, or if a
 * void of it is below them. A partition without a watermark has no rows below it.
 */
export function rowsBelow(
  bounds: RowBounds,
  scope?: { tenant_id: string; environment_id: string },
): Condition {
  const conditions = [
    ...(bounds.watermarks === null ? [] : [`position < ${watermarkOf('partition')}`]),
    ...(bounds.liveUntil.size === 0 ? [] : [LIVE]),
    `(partition, position) not in (
       select target_partition, target_position
         from usage_void_v1
        where ${[
          ...(scope === undefined
            ? []
            : ['tenant_id = {tenant_id:String} and environment_id = {environment_id:String}']),
          ...(bounds.watermarks === null ? ['true'] : [`position < ${watermarkOf('partition')}`]),
        ].join(' and ')})`,
  ];
  return { sql: conditions.join('\n and '), params: boundParams(bounds, scope) };
}

/** The watermark of a partition; 0 if there is none, and no row is below 0. */
function watermarkOf(partition: string): string {
  return `transform(${partition}, {bound_partitions:Array(UInt16)}, {bound_positions:Array(UInt64)}, toUInt64(0))`;
}

// A partition in which the version has not ended is not in its list, and so has no bound.
const LIVE = `position < transform(concat(meter_version_id, ':', toString(partition)),
   {ended_keys:Array(String)}, {ended_positions:Array(UInt64)}, toUInt64(18446744073709551615))`;

function boundParams(
  bounds: RowBounds,
  scope?: { tenant_id: string; environment_id: string },
): Record<string, unknown> {
  const watermarks = Object.entries(bounds.watermarks ?? {});
  const ended = [...bounds.liveUntil].flatMap(([version, vector]) =>
    Object.entries(vector).map(([partition, position]) => [`${version}:${partition}`, position]),
  );
  return {
    ...(bounds.watermarks === null
      ? {}
      : {
          bound_partitions: watermarks.map(([partition]) => Number(partition)),
          bound_positions: watermarks.map(([, position]) => position),
        }),
    ...(bounds.liveUntil.size === 0
      ? {}
      : {
          ended_keys: ended.map(([key]) => key),
          ended_positions: ended.map(([, position]) => position),
        }),
    ...(scope === undefined
      ? {}
      : { tenant_id: scope.tenant_id, environment_id: scope.environment_id }),
  };
}
