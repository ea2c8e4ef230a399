import { useQuery } from '@tanstack/react-query';
import type { Control, FieldPath, FieldValues } from 'react-hook-form';
import { answerOf, api, type ApiRecord } from '../../client/api.ts';
import { SelectField } from '../../ui/fields.tsx';
import { couponTerms } from './coupon-terms.ts';

const COUPONS_SHOWN = 200;

/** Chooses one of the coupons that exist, by its id or by its code. Nothing is shown while there is none. */
export function CouponField<Fields extends FieldValues>({
  control,
  name,
  label = 'Coupon',
  by,
  isRequired = false,
}: {
  readonly control: Control<Fields>;
  readonly name: FieldPath<Fields>;
  readonly label?: string;
  readonly by: 'id' | 'code';
  readonly isRequired?: boolean;
}) {
  const coupons = useQuery({
    queryKey: ['coupons-to-choose'],
    queryFn: ({ signal }) =>
      answerOf(api.POST('/coupons/search', { body: { limit: COUPONS_SHOWN }, signal })),
  });
  const offered = (coupons.data?.items ?? []).flatMap((coupon) => {
    const value = by === 'id' ? coupon.id : coupon.coupon_code;
    return value === null ? [] : [[value, textOf(coupon)] as const];
  });
  const unset =
    offered.length === 0 ? 'There is no coupon yet' : isRequired ? 'Choose a coupon' : 'None';
  return (
    <SelectField
      control={control}
      name={name}
      label={label}
      isRequired={isRequired}
      choices={[['', unset], ...offered]}
    />
  );
}

const textOf = (coupon: ApiRecord<'Coupon'>): string => `${coupon.name}: ${couponTerms(coupon)}`;
