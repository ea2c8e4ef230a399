import { useWatch, type Control, type FieldPath, type FieldValues } from 'react-hook-form';
import type { REFUND_TARGETS } from '../../../schemas/words.ts';
import { SelectField } from '../../ui/fields.tsx';

type RefundTarget = (typeof REFUND_TARGETS)[number];

const NAMES: Readonly<Record<RefundTarget, string>> = {
  PREPAID_WALLET: 'Prepaid wallet',
  BACK_TO_SOURCE: 'Original payment method',
};

const OUTCOMES: Readonly<Record<RefundTarget, string>> = {
  PREPAID_WALLET: 'The customer gets credits, which pay later invoices.',
  BACK_TO_SOURCE: 'The gateway sends the money back to the card or account that paid.',
};

/** Where the money of a refund goes, and what that means. */
export function RefundTargetField<Fields extends FieldValues>({
  control,
  name,
  isOffline = false,
}: {
  readonly control: Control<Fields>;
  readonly name: FieldPath<Fields>;
  /** No gateway can send back what was paid elsewhere. */
  readonly isOffline?: boolean;
}) {
  const target = useWatch({ control, name }) as RefundTarget;
  const offered: readonly RefundTarget[] = isOffline
    ? ['PREPAID_WALLET']
    : ['PREPAID_WALLET', 'BACK_TO_SOURCE'];
  return (
    <SelectField
      control={control}
      name={name}
      label="Refund to"
      isRequired
      choices={offered.map((one) => [one, NAMES[one]] as const)}
      hint={
        isOffline
          ? `${OUTCOMES[target]} The payment was recorded by hand, so no gateway can send it back.`
          : OUTCOMES[target]
      }
    />
  );
}
