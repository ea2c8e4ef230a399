import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { Range } from '../../app/range.ts';
import { answerOf, api } from '../../client/api.ts';
import { ButtonLink } from '../../ui/button.tsx';
import { Figure, Figures } from '../../ui/figure.tsx';
import { fractionOf, Money } from '../../ui/money.tsx';
import { Section } from '../../ui/page.tsx';
import { EmptyState, Loaded } from '../../ui/query-state.tsx';
import { formatDecimal } from '../../ui/text.ts';

/** What the usage of the range costs the company by its newest cost sheet, and what is left of the revenue. */
export function Margin({
  customer,
  range,
  isHidden,
}: {
  /** External id; empty: all customers together. */
  readonly customer: string;
  readonly range: Range;
  /** While what is above is loading. */
  readonly isHidden: boolean;
}) {
  const sheets = useQuery({
    queryKey: ['cost-sheets', 'newest'],
    queryFn: ({ signal }) =>
      answerOf(api.POST('/costs/search', { body: { status: 'published', limit: 1 }, signal })),
  });
  const [sheet] = sheets.data?.items ?? [];
  const body = { ...range, ...(customer === '' ? {} : { external_customer_id: customer }) };
  const margin = useQuery({
    queryKey: ['margin', body],
    enabled: sheet !== undefined,
    queryFn: ({ signal }) => answerOf(api.POST('/costs/analytics', { body, signal })),
  });
  return (
    <Section title="Margin" isHidden={isHidden}>
      <Loaded query={sheets} what="cost sheets">
        {() =>
          sheet === undefined ? (
            <EmptyState
              title="No cost sheet yet"
              action={<ButtonLink to="/cost-sheets">Cost sheets</ButtonLink>}
            >
              With what usage costs you, its margin is shown here.
            </EmptyState>
          ) : (
            <Loaded query={margin} what="the margin">
              {({ total_revenue, total_cost, margin: left, margin_percent, currency }) => {
                const fraction = fractionOf([total_revenue, total_cost, left]);
                return currency === '' ? (
                  <p>
                    No usage of this range has a price in{' '}
                    <Link to={`/cost-sheets/${sheet.id}`}>
                      <bdi>{sheet.name}</bdi>
                    </Link>{' '}
                    or a revenue.
                  </p>
                ) : (
                  <Figures>
                    <Figure
                      label="Revenue"
                      value={
                        <Money
                          amount={total_revenue}
                          currency={currency}
                          fraction={fraction}
                          isFilled
                        />
                      }
                      note="of usage, after recurring percentage coupons; only discounts and commitments are rounded"
                    />
                    <Figure
                      label="Cost to you"
                      value={
                        <Money
                          amount={total_cost}
                          currency={currency}
                          fraction={fraction}
                          isFilled
                        />
                      }
                      note={<bdi>{sheet.name}</bdi>}
                      to={`/cost-sheets/${sheet.id}`}
                    />
                    <Figure
                      label="Margin"
                      value={
                        <Money amount={left} currency={currency} fraction={fraction} isFilled />
                      }
                      note={`${formatDecimal(margin_percent, 2)}% of the revenue`}
                    />
                  </Figures>
                );
              }}
            </Loaded>
          )
        }
      </Loaded>
    </Section>
  );
}
