import { useQuery } from '@tanstack/react-query';
import { EntitlementEditor } from '../../app/offer/entitlement-editor.tsx';
import { answerOf, api, type ApiRecord } from '../../client/api.ts';
import { Loaded } from '../../ui/query-state.tsx';

/**
 * Changes the subscription's own entitlement. One of its plan or of an addon stays for the others: an entitlement of
 * the subscription takes its place.
 */
export function ChangeEntitlement({
  subscriptionId,
  entitlementId,
  isOwn,
  onDone,
}: {
  readonly subscriptionId: string;
  readonly entitlementId: string;
  readonly isOwn: boolean;
  readonly onDone: () => void;
}) {
  const params = { path: { id: entitlementId } };
  const query = useQuery({
    queryKey: ['entitlement', entitlementId],
    queryFn: ({ signal }) => answerOf(api.GET('/entitlements/{id}', { params, signal })),
    // The form begins with what is stored, not with what an earlier one was shown.
    gcTime: 0,
  });
  return (
    <Loaded query={query} what="the entitlement">
      {(entitlement) => (
        <EntitlementEditor
          entitlement={entitlement}
          onDone={onDone}
          save={(values) => {
            if (isOwn) return answerOf(api.PUT('/entitlements/{id}', { params, body: values }));
            const { feature_id, feature_type } = entitlement;
            return answerOf(
              api.POST('/entitlements', {
                body: {
                  ...{ entity_type: 'SUBSCRIPTION' as const, entity_id: subscriptionId },
                  ...{ parent_entitlement_id: entitlementId, feature_id, feature_type },
                  ...quotaOf(entitlement),
                  ...values,
                },
              }),
            );
          }}
        >
          <p>
            It changes for this subscription at once, for no other one.
            {isOwn ? null : ' The plan or addon keeps what it gives.'}
          </p>
        </EntitlementEditor>
      )}
    </Loaded>
  );
}

/** The windows of the quota that the entitlement has, for another one with the same windows; empty without a quota. */
function quotaOf(entitlement: ApiRecord<'Entitlement'>) {
  const { grant_quota, grant_measure, grant_duration_unit } = entitlement;
  const { grant_duration_value, grant_allocation_behavior, aggregation_mode } = entitlement;
  if (grant_quota === null) return {};
  return {
    ...{ grant_quota, grant_measure, grant_duration_unit, grant_duration_value },
    ...{ grant_allocation_behavior, aggregation_mode },
  };
}
