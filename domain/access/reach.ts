/** Which environments of its tenant a caller reaches beyond the one that it works in (tenancy 52). */
export interface Reach {
  /** Null: all environments. A list: these, for a person who was invited by a key and for keys of service accounts. */
  readonly environment_ids: readonly string[] | null;
  /** Of a key: the type of its environment. A development key reaches development environments only. */
  readonly environment_type: EnvironmentType | null;
}
type EnvironmentType = 'production' | 'development';

/** Whether the routes about environments show the caller this one; 404 otherwise. */
export function reaches(
  { environment_ids, environment_type }: Reach,
  environment: { readonly id: string; readonly type: EnvironmentType },
): boolean {
  const isListed = environment_ids === null || environment_ids.includes(environment.id);
  return isListed && (environment_type !== 'development' || environment.type === 'development');
}

/** A caller as far as it matters for people: a key is in one environment, a session is in none. */
export interface Inviter extends Reach {
  readonly environment_id: string;
  readonly key_id: string | null;
}

/**
 * The environments of whom the caller invites: a key's own, those of a person for a session. Null: all.
 */
export const invitedTo = (inviter: Inviter): readonly string[] | null =>
  inviter.key_id === null ? inviter.environment_ids : [inviter.environment_id];

/** Whether a person's environments are among those to which the caller could invite. */
export function mayChangePerson(
  inviter: Inviter,
  person: { readonly environment_ids: readonly string[] | null },
): boolean {
  const mine = invitedTo(inviter);
  if (mine === null) return true;
  return person.environment_ids !== null && person.environment_ids.every((id) => mine.includes(id));
}
