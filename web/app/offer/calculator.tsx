import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useEffect, useId, useState } from 'react';
import type { ExplainedTier } from '../../../schemas/explanation.ts';
import { typed } from '../billing/amounts.ts';
import { TierShares } from '../billing/tier-shares.tsx';
import { answerOf, api } from '../../client/api.ts';
import type { operations } from '../../client/openapi.d.ts';
import { Facts } from '../../ui/facts.tsx';
import { Money, Quantity } from '../../ui/money.tsx';
import { Failure } from '../../ui/query-state.tsx';
import styles from './calculator.module.css';

/** While the slider moves, a request is sent this long after its last step. */
const SETTLED_MS = 120;
const RANGES = ['100', '1000', '10000', '1000000', '100000000'] as const;

/** A price as it would be created. */
export type UnsavedPrice = NonNullable<
  operations['post_prices_calculate']['requestBody']['content']['application/json']['price']
>;

/** What a quantity costs at a price, stored or not: the server computes it with the rules of invoices. */
export function Calculator({
  of,
}: {
  readonly of: { readonly price_id: string } | { readonly price: UnsavedPrice };
}) {
  const [quantity, setQuantity] = useState('150');
  const [range, setRange] = useState<string>('1000');
  const isQuantity = typed(quantity)?.gte(0) === true;
  const body = useSettled({ ...of, quantities: [isQuantity ? quantity.trim() : '0'] });
  const label = useId();
  const query = useQuery({
    queryKey: ['calculate', body],
    enabled: isQuantity,
    queryFn: ({ signal }) => answerOf(api.POST('/prices/calculate', { body, signal })),
    placeholderData: keepPreviousData,
  });
  const item = query.data?.items[0];
  const reach = reachOf(range, quantity);
  return (
    <div className={styles.calculator}>
      <div className={styles.inputs}>
        <label htmlFor={`${label}-number`}>Quantity</label>
        <input
          id={`${label}-number`}
          className={styles.number}
          inputMode="decimal"
          value={quantity}
          aria-invalid={!isQuantity}
          aria-describedby={isQuantity ? undefined : `${label}-error`}
          onChange={(event) => setQuantity(event.target.value)}
        />
        <input
          type="range"
          aria-label="Quantity, slider"
          min="0"
          max={reach}
          step={reach === '100' || reach === '1000' ? '1' : String(Number(reach) / 1000)}
          value={isQuantity ? quantity : '0'}
          onChange={(event) => setQuantity(event.target.value)}
        />
        <label className={styles.range}>
          up to
          <select value={reach} onChange={(event) => setRange(event.target.value)}>
            {RANGES.map((value) => (
              <option key={value} value={value}>
                {Number(value).toLocaleString('en-US')}
              </option>
            ))}
          </select>
        </label>
      </div>
      {!isQuantity ? (
        <p id={`${label}-error`} className={styles.error} role="alert">
          enter a quantity of 0 or more, for example 1500
        </p>
      ) : query.isError ? (
        <Failure error={query.error} />
      ) : item === undefined || query.data === undefined ? null : (
        <>
          <div aria-live="polite">
            <Facts
              of={[
                ['Quantity', <Quantity value={item.quantity} />],
                ...(item.packages === null
                  ? []
                  : [['Packages', <Quantity value={item.packages} />] as const]),
                ['Unrounded', <Money amount={item.amount} currency={query.data.currency} />],
                [
                  'Total',
                  <strong className={styles.total}>
                    <Money amount={item.total} currency={query.data.currency} />
                  </strong>,
                ],
              ]}
            />
          </div>
          {item.tiers === null ? null : (
            <TierShares tiers={item.tiers as ExplainedTier[]} currency={query.data.currency} />
          )}
        </>
      )}
    </div>
  );
}

/** The chosen end of the slider, or the next one that reaches a quantity that was typed. */
function reachOf(range: string, quantity: string): string {
  const wanted = typed(quantity);
  const reaching = RANGES.find(
    (end) => Number(end) >= Number(range) && (wanted === null || wanted.lte(end)),
  );
  return reaching ?? RANGES.at(-1)!;
}

/** The value, once it has not changed for a moment. */
function useSettled<Value>(value: Value): Value {
  const text = JSON.stringify(value);
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), SETTLED_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return JSON.parse(settled) as Value;
}
