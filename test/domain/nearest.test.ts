import { expect, it } from 'vitest';
import { findNearest } from '../../src/domain/nearest.ts';
import { PERMISSIONS } from '../../src/domain/permission-catalogue.ts';
import { permissionReason } from '../../src/domain/permission-list.ts';

it.each([
  ['trace:view', 'traces:view'],
  ['traces:veiw', 'traces:view'],
  ['Traces:View', 'traces:view'],
  ['traces.view', 'traces:view'],
  ['webhookendpoints:manage', 'webhookEndpoints:manage'],
  ['webhooks:manage', null],
  ['nope', null],
  ['', null],
  ['x'.repeat(200), null],
])('of %s the nearest permission is %s', (text, nearest) => {
  expect(findNearest(text, PERMISSIONS)).toBe(nearest);
});

it('every permission is nearest to itself', () => {
  for (const name of PERMISSIONS) expect(findNearest(name, PERMISSIONS)).toBe(name);
});

it.each([
  ['trace:view', ['traces:view']],
  ['webhooks:manage', ['webhookEndpoints:manage']],
  ['traces:annihilate', ['traces:view', 'traces:create', 'traces:update', 'traces:share']],
])('whoever asks for %s is told %j', (name, nearest) => {
  const reason = permissionReason('permissions.1', name);
  expect(reason).toMatchObject({
    field: 'permissions.1',
    type: 'invalid_enum_value',
    expected: nearest,
    received: name,
  });
  expect(reason.message).toContain(nearest.join(', '));
});

it('a name that is near to no permission is told where they all are', () => {
  const reason = permissionReason('permissions.0', 'everything');
  expect(reason.message).toBe('permissions.0 is no permission; GET /api/permissions lists them all');
  expect(reason).not.toHaveProperty('expected');
});
