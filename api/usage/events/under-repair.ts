import type { ApiDeps } from '../../deps.ts';

/** Set on answers from raw events while the usage store is repaired: copies may be missing. */
export const UNDER_REPAIR_HEADER = 'x-under-repair';

/** Raw events are shown during a repair, unlike usage, but always with this header. */
export async function tellRepair({
  deps,
  setHeader,
}: {
  readonly deps: Pick<ApiDeps, 'isUsageUnderRepair'>;
  setHeader(name: string, value: string): void;
}): Promise<void> {
  if (await deps.isUsageUnderRepair()) setHeader(UNDER_REPAIR_HEADER, 'events');
}
