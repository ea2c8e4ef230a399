import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { StrictMode, type ReactNode } from 'react';
import { createRoot } from 'react-dom/client';
import { Refusal } from '../client/refusal.ts';
import '../ui/base.css';
import { applyTheme } from '../ui/theme.ts';

/**
 * A refusal is not repeated, because the answer would be the same. During an outage a request is tried three
 * times.
 */
const RETRIES = 3;

const isPassing = (error: Error): boolean =>
  !(error instanceof Refusal) || error.status === 0 || error.status === 429 || error.status >= 503;

/** Renders an application into the document: the console, the portal or the checkout page. */
export function start(application: ReactNode): void {
  applyTheme();
  const client = new QueryClient({
    defaultOptions: {
      queries: {
        retry: (count, error) => count < RETRIES && isPassing(error),
        staleTime: 5_000,
        refetchOnWindowFocus: false,
      },
    },
  });
  createRoot(document.getElementById('root')!).render(
    <StrictMode>
      <QueryClientProvider client={client}>{application}</QueryClientProvider>
    </StrictMode>,
  );
}
