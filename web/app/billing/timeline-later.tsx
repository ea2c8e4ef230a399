import { lazy, Suspense, type ComponentProps } from 'react';
import { Awaiting } from '../../ui/query-state.tsx';

/** Loaded with its tab: the pages before it do not need its words. */
const Loaded = lazy(async () => ({ default: (await import('./timeline.tsx')).Timeline }));

export function TimelineLater(props: ComponentProps<typeof Loaded>) {
  return (
    <Suspense fallback={<Awaiting what="the timeline" />}>
      <Loaded {...props} />
    </Suspense>
  );
}
