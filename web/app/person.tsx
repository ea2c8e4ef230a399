import { createContext, useContext, type ReactNode } from 'react';
import { allows, permissionsOf, type Permission } from '../../domain/access/permissions.ts';
import type { ApiRecord } from '../client/api.ts';

export type Person = ApiRecord<'User'>;
export type Environment = ApiRecord<'Environment'>;

/** Who is signed in, and where. */
export interface SignedIn {
  readonly person: Person;
  readonly environments: readonly Environment[];
  readonly environment: Environment;
}

export const SignedInContext = createContext<SignedIn | null>(null);

export function useSignedIn(): SignedIn {
  const value = useContext(SignedInContext);
  if (value === null) throw new Error('useSignedIn is for pages of the console');
  return value;
}

/** Whether the person's roles allow all of it. What they do not allow is not offered; the server refuses it too. */
export function useMay(...wanted: readonly Permission[]): boolean {
  const held = permissionsOf(useSignedIn().person.roles);
  return wanted.every((permission) => allows(held, permission));
}

/** Children for people who may: `<Allowed to="plan:write"><Button …/></Allowed>`. */
export function Allowed({
  to,
  children,
}: {
  readonly to: Permission;
  readonly children: ReactNode;
}) {
  return useMay(to) ? <>{children}</> : null;
}
