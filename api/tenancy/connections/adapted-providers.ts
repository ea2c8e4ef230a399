/** Providers that have an adapter. */
export const ADAPTED_PROVIDERS = ['stripe', 'test'] as const;

/** Whether the product takes payments over this provider. */
export const isAdapted = (provider: string): boolean =>
  (ADAPTED_PROVIDERS as readonly string[]).includes(provider);
