import { ROLES, rolesOf, type Role as RoleRecord } from '../../../domain/access/permissions.ts';
import { notFound } from '../../../domain/errors.ts';
import { z } from 'zod';
import { IdParams } from '../../../schemas/primitives.ts';
import { Role, RoleQuery } from '../../../schemas/tenancy.ts';
import { picked } from '../../conventions/picked.ts';
import { route } from '../../conventions/route.ts';

const answer = (role: RoleRecord): z.infer<typeof Role> =>
  picked(Role.shape, {
    ...role,
    permissions: Object.fromEntries(
      Object.entries(role.permissions).map(([entity, actions]) => [entity, [...actions]]),
    ),
  });

export const rbacRoutes = [
  route({
    method: 'GET',
    path: '/rbac/roles',
    summary: 'List the roles of people or of service accounts',
    permission: 'authenticated',
    query: RoleQuery,
    status: 200,
    answer: z.object({ roles: z.array(Role) }),
    handler: async ({ query }) => ({ roles: rolesOf(query.user_type ?? null).map(answer) }),
  }),
  route({
    method: 'GET',
    path: '/rbac/roles/{id}',
    summary: 'Get a role',
    permission: 'authenticated',
    params: IdParams,
    status: 200,
    answer: z.object({ role: Role }),
    async handler({ params }) {
      const role = ROLES.find((candidate) => candidate.id === params.id);
      if (role === undefined) throw notFound('Role', params.id);
      return { role: answer(role) };
    },
  }),
];
