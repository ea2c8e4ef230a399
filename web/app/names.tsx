import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { Permission } from '../../domain/access/permissions.ts';
import { useMay } from './person.tsx';

type Names = ReadonlyMap<string, string>;

const NONE: Names = new Map();

/** The names of records, by id, in one request. Empty until they are known, and for people who may not read them. */
export function useNames(
  permission: Permission,
  ids: readonly string[],
  load: (ids: readonly string[], signal: AbortSignal) => Promise<Names>,
): Names {
  const may = useMay(permission);
  const wanted = [...new Set(ids)].sort();
  const { data } = useQuery({
    queryKey: ['names', permission, wanted],
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
