import { useQuery } from '@tanstack/react-query';
import { FeatureBars } from '../../app/billing/feature-bars.tsx';
import { answerOf, api } from '../../client/api.ts';
import { EmptyState, Loaded } from '../../ui/query-state.tsx';

/** What the customer may use, and how much of it is used in the running reset window. */
export function Entitlements({
  customerId,
  zone,
}: {
  readonly customerId: string;
  readonly zone: string;
}) {
  const query = useQuery({
    queryKey: ['customer-usage', customerId],
    queryFn: ({ signal }) =>
      answerOf(api.GET('/customers/{id}/usage', { params: { path: { id: customerId } }, signal })),
  });
  return (
    <Loaded query={query} what="usage">
      {({ features }) =>
        features.length === 0 ? (
          <EmptyState title="No entitlements">
            A plan grants features to its subscribers. What they may use is shown here.
          </EmptyState>
        ) : (
          <FeatureBars features={features} zone={zone} />
        )
      }
    </Loaded>
  );
}
