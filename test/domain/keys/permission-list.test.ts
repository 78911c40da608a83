import { expect, it } from 'vitest';
import { PERMISSIONS } from '../../../src/domain/keys/permission-catalogue.ts';
import { permissionReason } from '../../../src/domain/keys/permission-list.ts';

it('every permission is nearest to itself', () => {
  for (const name of PERMISSIONS) expect(permissionReason('permissions.0', name)).toMatchObject({ expected: [name] });
});

it.each([
  ['trace:view', ['traces:view']],
  ['traces:veiw', ['traces:view']],
  ['Traces:View', ['traces:view']],
  ['traces.view', ['traces:view']],
  ['webhookendpoints:manage', ['webhookEndpoints:manage']],
  ['webhooks:manage', ['webhookEndpoints:manage']],
  ['traces:annihilate', ['traces:view', 'traces:create', 'traces:update', 'traces:share']],
])('a request for %s gets the suggestion %j', (name, nearest) => {
  const reason = permissionReason('permissions.1', name);
  expect(reason).toMatchObject({
    field: 'permissions.1',
    type: 'invalid_enum_value',
    expected: nearest,
    received: name,
  });
  expect(reason.message).toContain(nearest.join(', '));
});

it.each(['everything', 'nope', '', 'x'.repeat(200)])(
  '%j, which is similar to no permission, gets the path of their list',
  (name) => {
    const reason = permissionReason('permissions.0', name);
    expect(reason.message).toBe('permissions.0 is not a permission; GET /api/permissions lists them all');
    expect(reason).not.toHaveProperty('expected');
  },
);
