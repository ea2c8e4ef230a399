import type { BillingDeps } from '../deps.ts';
import type { IdPrefix } from '../../platform/ids.ts';
import { isoTime } from '../../platform/clock.ts';
import type { Scope } from '../../postgres/client.ts';

/** Actor and scope of a request, as commands need them. A `Call` is a `Caller`. */
export interface Caller {
  readonly scope: Scope;
  readonly user_id: string;
}

/** The standard fields of a new record (specification, conventions 6). */
export function newRecord(
  deps: Pick<BillingDeps, 'ids' | 'clock'>,
  caller: Caller,
  prefix: IdPrefix,
) {
  const at = isoTime(deps.clock.now());
  return {
    id: deps.ids.next(prefix),
    tenant_id: caller.scope.tenant_id,
    environment_id: caller.scope.environment_id,
    status: 'published' as const,
    created_at: at,
    updated_at: at,
    created_by: caller.user_id,
    updated_by: caller.user_id,
  };
}

/** The fields that every change of a record sets. */
export function changed(deps: Pick<BillingDeps, 'clock'>, caller: Caller) {
  return { updated_at: isoTime(deps.clock.now()), updated_by: caller.user_id };
}

/** The fields present in the request; null gives the value that a new record has without the field (api 7). */
export function sentOr<Fields extends object>(
  fields: Fields,
  defaults: { readonly [Field in keyof Fields]: NonNullable<Fields[Field]> },
): { [Field in keyof Fields]?: NonNullable<Fields[Field]> } {
  const given = Object.entries(sent(fields)).map(([name, value]) => [
    name,
    value ?? defaults[name as keyof Fields],
  ]);
  return Object.fromEntries(given) as { [Field in keyof Fields]?: NonNullable<Fields[Field]> };
}

/** The fields present in the request, `null` included; absent fields stay unchanged. */
export function sent<Fields extends object>(fields: Fields): Partial<Fields> {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined),
  ) as Partial<Fields>;
}
