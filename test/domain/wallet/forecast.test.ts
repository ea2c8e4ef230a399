import fc from 'fast-check';
import { decimal, Decimal } from '../../../domain/money.ts';
import { FORECAST_DAYS, forecastBalance } from '../../../domain/wallet/forecast.ts';
import { block, NOW } from './wallet-input.ts';

const DAY_MS = 86_400_000;
const daysAfter = (days: number): string => new Date(Date.parse(NOW) + days * DAY_MS).toISOString();
const one = new Decimal(1);
const forecast = (
  blocks: Parameters<typeof forecastBalance>[0],
  balance: string,
  daily: string,
  rate = one,
) => forecastBalance(blocks, rate, { balance: decimal(balance), daily: decimal(daily) }, NOW);

describe('the forecast of a wallet (money 2.8.8)', () => {
  test.each`
    why                                                  | blocks                                                                                                | balance  | daily  | days
    ${'used up at its pace'}                             | ${[block('a', '56')]}                                                                                 | ${'56'}  | ${'1'} | ${56}
    ${'in the middle of a day'}                          | ${[block('a', '1')]}                                                                                  | ${'1'}   | ${'4'} | ${0.25}
    ${'never without usage'}                             | ${[block('a', '56')]}                                                                                 | ${'56'}  | ${'0'} | ${null}
    ${'later than the horizon'}                          | ${[block('a', '366')]}                                                                                | ${'366'} | ${'1'} | ${null}
    ${'at the end of the horizon'}                       | ${[block('a', '365')]}                                                                                | ${'365'} | ${'1'} | ${FORECAST_DAYS}
    ${'the rest of a block is lost'}                     | ${[block('a', '30', { expiry_date: daysAfter(10) }), block('b', '26')]}                               | ${'56'}  | ${'1'} | ${36}
    ${'the block with the lower priority is used first'} | ${[block('a', '30', { expiry_date: daysAfter(10), priority: 2 }), block('b', '26', { priority: 1 })]} | ${'56'}  | ${'1'} | ${26}
    ${'everything expires unused'}                       | ${[block('a', '30', { expiry_date: daysAfter(2.5) })]}                                                | ${'30'}  | ${'0'} | ${2.5}
    ${'an expired block counts for nothing'}             | ${[block('a', '30', { expiry_date: NOW }), block('b', '2')]}                                          | ${'2'}   | ${'1'} | ${2}
    ${'what is not settled is taken first'}              | ${[block('a', '30', { expiry_date: daysAfter(10) }), block('b', '26')]}                               | ${'31'}  | ${'1'} | ${31}
    ${'empty already'}                                   | ${[block('a', '5')]}                                                                                  | ${'-1'}  | ${'1'} | ${0}
    ${'no blocks'}                                       | ${[]}                                                                                                 | ${'0'}   | ${'1'} | ${0}
  `('$why: $days days', ({ blocks, balance, daily, days }) => {
    const { empty_at, points } = forecast(blocks, balance, daily);
    expect(empty_at).toBe(days === null ? null : daysAfter(days));
    expect(points[0]).toEqual({ at: NOW, balance });
    expect(points.at(-1)!.at).toBe(empty_at ?? daysAfter(FORECAST_DAYS));
  });

  test('credits are worth their rate', () => {
    const { empty_at } = forecast([block('a', '500')], '5', '1', decimal('0.01'));
    expect(empty_at).toBe(daysAfter(5));
  });

  test('the balance never grows, and more usage is never later empty', () => {
    const blocks = fc.array(
      fc.record({ credits: fc.integer({ min: 1, max: 500 }), days: fc.option(fc.integer({ min: 1, max: 400 })) }),
      { minLength: 1, maxLength: 6 },
    ); // prettier-ignore
    fc.assert(
      fc.property(blocks, fc.integer({ min: 0, max: 50 }), (some, daily) => {
        const own = some.map(({ credits, days }, index) =>
          block(String(index), String(credits), {
            expiry_date: days === null ? null : daysAfter(days),
          }),
        );
        const balance = String(some.reduce((all, { credits }) => all + credits, 0));
        const { points, empty_at } = forecast(own, balance, String(daily));
        points.slice(1).forEach((point, index) => {
          expect(decimal(point.balance).lte(points[index]!.balance)).toBe(true);
          expect(point.at > points[index]!.at).toBe(true);
        });
        const sooner = forecast(own, balance, String(daily + 1)).empty_at;
        if (empty_at !== null) expect(sooner! <= empty_at).toBe(true);
      }),
    );
  });
});
