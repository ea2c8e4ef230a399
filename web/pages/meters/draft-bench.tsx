import type { z } from 'zod';
import type { CreateMeterBody } from '../../../schemas/meter.ts';
import { answerOf, api, type ApiRecord } from '../../client/api.ts';
import { Bench } from './bench.tsx';

/** The bench for a meter that is not saved; null while it is not complete. */
export function DraftBench({
  body,
  example,
}: {
  readonly body: z.input<typeof CreateMeterBody> | null;
  /** The event to begin with. */
  readonly example?: string;
}) {
  return (
    <Bench
      definition={body}
      {...(example === undefined ? {} : { example })}
      evaluate={(event) =>
        answerOf(
          api.POST('/meters/test', {
            body: { event, meter: body as ApiRecord<'TestMeterDefinition'>['meter'] },
          }),
        )
      }
    />
  );
}
