import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { Permission } from '../../domain/access/permissions.ts';
import { useMay } from './person.tsx';

type ById<Value> = ReadonlyMap<string, Value>;
type Names = ById<string>;
type Load<Value> = (ids: readonly string[], signal: AbortSignal) => Promise<ById<Value>>;

const NONE: ById<never> = new Map<string, never>();

/** The names of records, by id, in one request. Empty until they are known, and for people who may not read them. */
export const useNames = (
  permission: Permission,
  ids: readonly string[],
  load: Load<string>,
): Names => useById('names', permission, ids, load);

/** The same of other values than names: `what` tells them apart. */
export function useById<Value>(
  what: string,
  permission: Permission,
  ids: readonly string[],
  load: Load<Value>,
): ById<Value> {
  const may = useMay(permission);
  const wanted = [...new Set(ids)].sort();
  const { data } = useQuery({
    queryKey: [what, permission, wanted],
    enabled: may && wanted.length > 0,
    queryFn: ({ signal }) => load(wanted, signal),
    placeholderData: keepPreviousData,
  });
  return data ?? NONE;
}

/** A record as a link with its name, or with its id if the name is not known. */
export function NamedLink({
  to,
  id,
  names,
}: {
  readonly to: string;
  readonly id: string;
  readonly names: Names;
}) {
  return (
    <Link to={to} title={id}>
      <bdi>{names.get(id) ?? id}</bdi>
    </Link>
  );
}
