import { createContext, useContext } from 'react';
import type { PortalPageSession } from '../../schemas/portal-page.ts';

export const PortalContext = createContext<PortalPageSession | null>(null);

/** Whose portal this is, and who bills them. */
export function usePortal(): PortalPageSession {
  const value = useContext(PortalContext);
  if (value === null) throw new Error('usePortal is for pages of the portal');
  return value;
}

/** The zone in which the customer reads times. */
export const useZone = (): string => usePortal().customer.timezone;
