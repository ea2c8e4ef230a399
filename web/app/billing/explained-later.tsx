import { lazy, Suspense, type ComponentProps } from 'react';
import { Awaiting } from '../../ui/query-state.tsx';

/** Loaded with the first explanation that is opened: its dates need the rules of all time zones. */
const Loaded = lazy(async () => ({ default: (await import('./explained.tsx')).Explained }));

export function ExplainedLater(props: ComponentProps<typeof Loaded>) {
  return (
    <Suspense fallback={<Awaiting what="the explanation" />}>
      <Loaded {...props} />
    </Suspense>
  );
}
