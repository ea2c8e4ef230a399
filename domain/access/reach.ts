/** Environments of its tenant that a caller can reach in addition to its current one (tenancy 52). */
export interface Reach {
  /**
   * Null means all environments. A list: only these, for users invited by a key and for keys of service
   * accounts.
   */
  readonly environment_ids: readonly string[] | null;
  /** For a key: the type of its environment. A development key reaches development environments only. */
  readonly environment_type: EnvironmentType | null;
}
type EnvironmentType = 'production' | 'development';

/** Whether the environment routes show this environment to the caller; otherwise they answer 404. */
export function reaches(
  { environment_ids, environment_type }: Reach,
  environment: { readonly id: string; readonly type: EnvironmentType },
): boolean {
  const isListed = environment_ids === null || environment_ids.includes(environment.id);
  return isListed && (environment_type !== 'development' || environment.type === 'development');
}

/** The fields of a caller that matter for managing users: a key is in one environment, a session in none. */
export interface Inviter extends Reach {
  readonly environment_id: string;
  readonly key_id: string | null;
}

/**
 * The environments of users that the caller invites: a key's own environment, or all of a session's user.
 * Null means all.
 */
export const invitedTo = (inviter: Inviter): readonly string[] | null =>
  inviter.key_id === null ? inviter.environment_ids : [inviter.environment_id];

/** Whether all of a user's environments are among those that the caller could invite to. */
export function mayChangePerson(
  inviter: Inviter,
  person: { readonly environment_ids: readonly string[] | null },
): boolean {
  const mine = invitedTo(inviter);
  if (mine === null) return true;
  return person.environment_ids !== null && person.environment_ids.every((id) => mine.includes(id));
}
