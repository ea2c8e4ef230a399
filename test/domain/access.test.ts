import {
  allows,
  assertRoles,
  mayGrant,
  permissionsOf,
  rolesOf,
} from '../../domain/access/permissions.ts';

describe('permissions', () => {
  test.each`
    roles                                 | permissions
    ${['super_admin']}                    | ${['*:read', '*:write', 'audit_log:read']}
    ${['all_reader']}                     | ${['*:read', 'audit_log:read']}
    ${['all_writer']}                     | ${['*:read', '*:write']}
    ${['event_reader', 'event_ingestor']} | ${['event:write', 'event:read']}
    ${['boss', 'constructor']}            | ${[]}
    ${[]}                                 | ${[]}
  `('$roles hold $permissions', ({ roles, permissions }) => {
    expect(permissionsOf(roles)).toEqual(permissions);
  });

  test.each`
    held                  | wanted              | is
    ${['*:read']}         | ${'plan:read'}      | ${true}
    ${['*:read']}         | ${'plan:write'}     | ${false}
    ${['plan:write']}     | ${'plan:write'}     | ${true}
    ${['plan:write']}     | ${'plan:read'}      | ${false}
    ${['plan:write']}     | ${'price:write'}    | ${false}
    ${[]}                 | ${'plan:read'}      | ${false}
    ${['*:read']}         | ${'audit_log:read'} | ${false}
    ${['audit_log:read']} | ${'audit_log:read'} | ${true}
  `('$held allows $wanted: $is', ({ held, wanted, is }) => {
    expect(allows(held, wanted)).toBe(is);
  });

  test('people and service accounts have catalogs of their own', () => {
    const ids = (type: 'user' | 'service_account' | null) => rolesOf(type).map((role) => role.id);
    expect(ids('user')).toEqual(['all_reader', 'all_writer', 'super_admin']);
    expect(ids('service_account')).toEqual(['event_ingestor', 'event_reader', 'super_admin']);
    expect(ids(null)).toHaveLength(5);
  });

  test.each([
    ['user', [], 'roles'],
    ['user', ['all_reader', 'event_reader'], 'roles[1]'],
    ['user', ['super_admin', 'all_reader'], 'roles'],
    ['service_account', ['all_reader'], 'roles[0]'],
    ['service_account', ['boss'], 'roles[0]'],
  ] as const)('a %s cannot have %j', (type, roles, path) => {
    expect(() => assertRoles(type, roles)).toThrow(`${path}:`);
  });

  test.each`
    granting           | granted               | may
    ${['super_admin']} | ${['super_admin']}    | ${true}
    ${['all_writer']}  | ${['super_admin']}    | ${false}
    ${['all_writer']}  | ${['event_ingestor']} | ${true}
    ${['all_reader']}  | ${['event_reader']}   | ${true}
    ${['all_reader']}  | ${['event_ingestor']} | ${false}
    ${[]}              | ${['event_reader']}   | ${false}
  `('$granting grants $granted: $may', ({ granting, granted, may }) => {
    expect(mayGrant({ roles: granting, permissions: permissionsOf(granting) }, granted)).toBe(may);
  });
});
