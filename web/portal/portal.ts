import { createContext, useContext } from 'react';
import type { PortalPage, PortalPageSession } from '../../schemas/portal-page.ts';

export const PortalContext = createContext<PortalPageSession | null>(null);

/** Whose portal this is, and who bills them. */
export function usePortal(): PortalPageSession {
  const value = useContext(PortalContext);
  if (value === null) throw new Error('usePortal is for pages of the portal');
  return value;
}

/** What a page of the setting is called; null while the setting hides it. */
export function usePageLabel(id: PortalPage['id']): string | null {
  return usePortal().pages.find((page) => page.id === id)?.label ?? null;
}

/** The zone in which the customer reads times. */
export const useZone = (): string => usePortal().customer.timezone;
