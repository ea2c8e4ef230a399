import { answerOf, api } from '../client/api.ts';
import { NamedLink, useNames } from './names.tsx';

export function TestClockName({ id }: { readonly id: string }) {
  const names = useNames('testclock:read', [id], async (_ids, signal) => {
    const clock = await answerOf(
      api.GET('/test-clocks/{id}', { params: { path: { id } }, signal }),
    );
    return new Map(clock.name === null ? [] : [[id, clock.name]]);
  });
  return <NamedLink to={`/test-clocks/${id}`} id={id} names={names} />;
}
