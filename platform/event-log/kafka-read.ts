import { randomUUID } from 'node:crypto';
import type { Kafka } from 'kafkajs';
import type { LogRecord } from './event-log.ts';

const WAITING_MAX = 4;

/** The records `first` to `next` of one partition, read by a consumer outside of our groups. */
export async function* readPartition(
  kafka: Kafka,
  at: { topic: string; partition: number; first: bigint; next: bigint },
): AsyncGenerator<LogRecord[]> {
  const { topic, partition, next } = at;
  const consumer = kafka.consumer({ groupId: `${topic}-repair-${randomUUID()}` });
  const chunks: LogRecord[][] = [];
  let failure: Error | null = null;
  let wake: () => void = () => {};
  consumer.on('consumer.crash', ({ payload }) => {
    failure = payload.error;
    wake();
  });
  try {
    await consumer.connect();
    await consumer.subscribe({ topics: [topic], fromBeginning: true });
    await consumer.run({
      autoCommit: false,
      async eachBatch({ batch, pause }) {
        if (batch.partition !== partition) return void pause();
        chunks.push(
          batch.messages.map(({ offset, value }) => ({
            offset: BigInt(offset),
            value: value ?? Buffer.alloc(0),
          })),
        );
        wake();
        while (chunks.length >= WAITING_MAX)
          await new Promise((resolve) => setTimeout(resolve, 20));
      },
    });
    for (let from = at.first; from < next;) {
      if (failure !== null) throw failure;
      const chunk = chunks.shift()?.filter(({ offset }) => offset >= from && offset < next);
      if (chunk === undefined) await new Promise<void>((resolve) => (wake = resolve));
      else if (chunk.length > 0) {
        yield chunk;
        from = chunk.at(-1)!.offset + 1n;
      }
    }
  } finally {
    chunks.length = 0;
    await consumer.disconnect().catch(() => {});
  }
}
