import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { grantOf } from '../billing/grant-of.ts';
import { Allowed, useMay } from '../person.tsx';
import { answerOf, api } from '../../client/api.ts';
import { Button } from '../../ui/button.tsx';
import { PlainTable } from '../../ui/data-table.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Row, Section } from '../../ui/page.tsx';
import { EmptyState } from '../../ui/query-state.tsx';
import { formatWord } from '../../ui/text.ts';
import { EditEntitlement } from './edit-entitlement.tsx';
import { EntitlementForm } from './entitlement-form.tsx';
import type { Offer } from './offer.ts';
import { RemovePart } from './remove-part.tsx';

/** The features that an offer gives, and how much of each. */
export function Entitlements({ offer }: { readonly offer: Offer }) {
  const [isAdding, setAdding] = useState(false);
  const mayWrite = useMay('entitlement:write');
  const { entitlements } = offer;
  const add = offer.isOpen ? (
    <Allowed to="entitlement:write">
      <Button small onPress={() => setAdding(true)}>
        Add entitlement
      </Button>
    </Allowed>
  ) : null;
  return (
    <Section title="Entitlements" actions={entitlements.length === 0 ? null : add}>
      {entitlements.length === 0 ? (
        <EmptyState title="No entitlements yet" action={add}>
          An entitlement gives subscribers of the {offer.kind} a feature, with or without an
          included quantity.
        </EmptyState>
      ) : (
        <PlainTable
          label="List of entitlements"
          rows={entitlements}
          columns={[
            {
              header: 'Feature',
              cell: ({ feature, feature_id }) => (
                <Link to={`/features/${feature_id}`}>
                  <bdi>{feature?.name ?? feature_id}</bdi>
                </Link>
              ),
            },
            { header: 'Type', cell: (row) => formatWord(row.feature_type) },
            { header: 'Value', align: 'end', cell: grantOf },
            ...(mayWrite && offer.isOpen
              ? [
                  {
                    header: 'Actions',
                    align: 'end' as const,
                    cell: (row: Offer['entitlements'][number]) => (
                      <Row>
                        <EditEntitlement
                          entitlement={row}
                          name={row.feature?.name ?? 'entitlement'}
                        >
                          <p>
                            It holds at once for all subscribers of the {offer.kind}, unless their
                            subscription has its own.
                          </p>
                        </EditEntitlement>
                        <RemovePart
                          verb="Remove"
                          noun="entitlement"
                          name={row.feature?.name ?? 'the entitlement'}
                          done="Entitlement removed"
                          onConfirm={() =>
                            answerOf(
                              api.DELETE('/entitlements/{id}', {
                                params: { path: { id: row.id } },
                              }),
                            )
                          }
                        >
                          <p>
                            Subscribers of the {offer.kind} lose it at once, also those that have it
                            now.
                          </p>
                        </RemovePart>
                      </Row>
                    ),
                  },
                ]
              : []),
          ]}
        />
      )}
      <Dialog title="Add entitlement" isOpen={isAdding} onClose={() => setAdding(false)}>
        <EntitlementForm offer={offer} onDone={() => setAdding(false)} />
      </Dialog>
    </Section>
  );
}
