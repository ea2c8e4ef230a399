import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { answerOf, api } from '../../client/api.ts';
import { Loaded } from '../../ui/query-state.tsx';

const BUCKETS_SHOWN = 200;

type Buckets = readonly (readonly [string, string])[];

/** The connections to buckets, id and name, for a form that chooses one. */
export function WithBuckets({ children }: { readonly children: (of: Buckets) => ReactNode }) {
  const buckets = useQuery({
    queryKey: ['connections', 's3'],
    queryFn: ({ signal }) =>
      answerOf(
        api.POST('/connections/search', {
          body: { provider_type: 's3', limit: BUCKETS_SHOWN },
          signal,
        }),
      ),
  });
  return (
    <Loaded query={buckets} what="buckets">
      {({ connections }) => children(connections.map(({ id, name }) => [id, name] as const))}
    </Loaded>
  );
}
