import { lazy, Suspense, type ComponentProps } from 'react';
import { Awaiting } from '../../ui/query-state.tsx';

/** Loaded with the first preview: the form before it does not need the document of an invoice. */
const Loaded = lazy(async () => ({ default: (await import('./start-preview.tsx')).StartPreview }));

export function StartPreviewLater(props: ComponentProps<typeof Loaded>) {
  return (
    <Suspense fallback={<Awaiting what="the preview" />}>
      <Loaded {...props} />
    </Suspense>
  );
}
