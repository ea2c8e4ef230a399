import { hasPassed, headsToRead, headsVector } from '../../../domain/metering/log-heads.ts';
import { packPosition } from '../../../domain/metering/position.ts';

const at = (epoch: number, offset: number) => packPosition(epoch, BigInt(offset), 0);
const head = (epoch: number, partition: number, next: number) => ({
  epoch,
  partition,
  next: BigInt(next),
});

describe('the heads of the log as one vector', () => {
  test('empty partitions bound nothing, in a later epoch neither', () => {
    expect(headsVector([head(0, 0, 7), head(0, 1, 0), head(1, 0, 0)])).toEqual({ 0: at(0, 7) });
  });
  test('of one partition number the later epoch replaces both', () => {
    expect(headsVector([head(1, 0, 2), head(0, 0, 900)])).toEqual({ 0: at(1, 2) });
  });
});

test('records of a closed partition beyond its noted end are not waited for', () => {
  const noted = new Map([
    ['0/0', { end: 5n }],
    ['0/1', { end: 9n }],
  ]);
  expect(headsToRead([head(0, 0, 7), head(0, 1, 9), head(1, 0, 3)], noted)).toEqual([
    head(0, 0, 5),
    head(0, 1, 9),
    head(1, 0, 3),
  ]);
});

describe('whether the stream has passed the heads', () => {
  const heads = { 0: at(0, 7), 2: at(0, 3) };
  test.each`
    watermarks                             | passed
    ${{ 0: at(0, 7), 2: at(0, 3) }}        | ${true}
    ${{ 0: at(0, 8), 2: at(1, 0), 5: 0n }} | ${true}
    ${{ 0: at(0, 6), 2: at(0, 3) }}        | ${false}
    ${{ 0: at(0, 7) }}                     | ${false}
    ${{}}                                  | ${false}
  `('$watermarks: $passed', ({ watermarks, passed }) => {
    expect(hasPassed(watermarks, heads)).toBe(passed);
  });
  test('without heads nothing waits', () => expect(hasPassed({}, {})).toBe(true));
});
