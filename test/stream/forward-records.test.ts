import { lateRecords } from '../../stream/forward-records.ts';

describe('records that came after their epoch was closed', () => {
  const epochs = [
    { epoch: 0, partitions: 3, ends: [7n, 5n, 9n] },
    { epoch: 1, partitions: 1, ends: null },
  ];
  const noted = (ends: Record<string, [bigint, bigint]>) =>
    new Map(Object.entries(ends).map(([at, [end, forwarded]]) => [at, { end, forwarded }]));

  test('are those beyond the noted end that were not forwarded', () => {
    expect(
      lateRecords(epochs, noted({ '0/0': [5n, 0n], '0/1': [5n, 0n], '0/2': [4n, 8n] })),
    ).toEqual([
      { epoch: 0, partition: 0, from: 5n, to: 7n },
      { epoch: 0, partition: 2, from: 8n, to: 9n },
    ]);
  });

  test('a partition whose end is not noted is read, not forwarded', () => {
    expect(lateRecords(epochs, noted({}))).toEqual([]);
  });
});
