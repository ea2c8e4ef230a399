import { useState } from 'react';
import { Allowed, useMay } from '../person.tsx';
import { answerOf, api, type ApiRecord } from '../../client/api.ts';
import { Button } from '../../ui/button.tsx';
import { PlainTable } from '../../ui/data-table.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Quantity } from '../../ui/money.tsx';
import { Section } from '../../ui/page.tsx';
import { EmptyState } from '../../ui/query-state.tsx';
import { formatWord } from '../../ui/text.ts';
import { CreditGrantForm } from './credit-grant-form.tsx';
import type { Offer } from './offer.ts';
import { RemovePart } from './remove-part.tsx';

type CreditGrant = ApiRecord<'CreditGrant'>;

/** The credits that an offer puts into the prepaid wallets of its subscribers. */
export function CreditGrants({ offer }: { readonly offer: Offer }) {
  const [isAdding, setAdding] = useState(false);
  const mayWrite = useMay('creditgrant:write');
  const { creditGrants } = offer;
  const add = offer.isOpen ? (
    <Allowed to="creditgrant:write">
      <Button small onPress={() => setAdding(true)}>
        Add credit grant
      </Button>
    </Allowed>
  ) : null;
  return (
    <Section title="Credit grants" actions={creditGrants.length === 0 ? null : add}>
      {creditGrants.length === 0 ? (
        <EmptyState title="No credit grants yet" action={add}>
          A credit grant puts credits into the prepaid wallet of each subscriber, once or in each
          period.
        </EmptyState>
      ) : (
        <PlainTable
          label="List of credit grants"
          rows={creditGrants}
          columns={[
            { header: 'Credit grant', cell: ({ name }) => <bdi>{name}</bdi> },
            { header: 'Credits', align: 'end', cell: ({ credits }) => <Quantity value={credits} /> }, // prettier-ignore
            { header: 'Granted', cell: cadenceOf },
            { header: 'Expires', wideOnly: true, cell: expiryOf },
            ...(mayWrite && offer.isOpen
              ? [
                  {
                    header: 'Actions',
                    align: 'end' as const,
                    cell: ({ id, name }: CreditGrant) => (
                      <RemovePart
                        verb="Remove"
                        noun="credit grant"
                        name={name}
                        done="Credit grant removed"
                        onConfirm={() =>
                          answerOf(api.DELETE('/creditgrants/{id}', { params: { path: { id } } }))
                        }
                      >
                        <p>
                          New subscribers of the {offer.kind} do not get these credits. Running
                          subscriptions keep the grants that they have.
                        </p>
                      </RemovePart>
                    ),
                  },
                ]
              : []),
          ]}
        />
      )}
      <Dialog title="Add credit grant" isOpen={isAdding} onClose={() => setAdding(false)}>
        <CreditGrantForm offer={offer} onDone={() => setAdding(false)} />
      </Dialog>
    </Section>
  );
}

/** `Once`, `Monthly`, `Every 2 × monthly`. */
function cadenceOf({ cadence, period, period_count }: CreditGrant): string {
  if (cadence === 'ONETIME' || period === null) return 'Once';
  const word = formatWord(period);
  return period_count === null || period_count === 1
    ? word
    : `${word}, each ${period_count} periods`;
}

function expiryOf(grant: CreditGrant): string {
  switch (grant.expiration_type) {
    case 'NEVER':
      return 'Never';
    case 'BILLING_CYCLE':
      return 'With the billing period';
    case 'DURATION': {
      const unit = formatWord(grant.expiration_duration_unit ?? 'DAY').toLowerCase();
      const count = grant.expiration_duration ?? 0;
      return `After ${count} ${unit}${count === 1 ? '' : 's'}`;
    }
    default:
      return grant.expiration_type satisfies never;
  }
}
