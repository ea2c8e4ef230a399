import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { answerOf, api } from '../client/api.ts';
import { useMay } from './person.tsx';

/** A test clock as a link with its name and the time that it shows. */
export function TestClockName({ id }: { readonly id: string }) {
  const may = useMay('testclock:read');
  const { data } = useQuery({
    queryKey: ['test-clock-name', id],
    enabled: may,
    queryFn: ({ signal }) =>
      answerOf(api.GET('/test-clocks/{id}', { params: { path: { id } }, signal })),
  });
  return (
    <Link to={`/test-clocks/${id}`} title={id}>
      <bdi>{data === undefined ? 'A test clock' : `The test clock ${data.name}`}</bdi>
    </Link>
  );
}
