import { expect, it } from 'vitest';
import { readCommand } from '../../src/cli/command.ts';

const ID = '0123456789abcdef';
const URLS = ['--from', 'sqlite:a.db', '--to', 'postgres://u:password@h/d'];

it.each([
  [[], { kind: 'serve' }],
  [['serve'], { kind: 'serve' }],
  [['migrate'], { kind: 'migrate', isDryRun: false }],
  [['migrate', '--dry-run'], { kind: 'migrate', isDryRun: true }],
  [['return-texts'], { kind: 'return-texts', drops: 'none' }],
  [['return-texts', '--drop-missing'], { kind: 'return-texts', drops: 'missing' }],
  [['return-texts', '--drop-all'], { kind: 'return-texts', drops: 'all' }],
  [['backup', '--to', 'copy.db'], { kind: 'backup', to: 'copy.db' }],
  [['copy', ...URLS], { kind: 'copy', from: 'sqlite:a.db', to: 'postgres://u:password@h/d' }],
  [['copy', '--to=postgres://h/d', '--from=sqlite:a.db'], { kind: 'copy', from: 'sqlite:a.db', to: 'postgres://h/d' }],
  [['mint-admin-key', '--email', 'a@b'], { kind: 'mint-admin-key', email: 'a@b', organizationId: null }],
  [
    ['keys', 'list', '--organization'],
    { kind: 'keys', action: 'list', wholeOrganization: true, includeRevoked: false, json: false },
  ],
  [['keys', 'revoke', ID, '--json'], { kind: 'keys', action: 'revoke', id: ID, note: null, json: true }],
  [['keys', 'rotate', ID], { kind: 'keys', action: 'rotate', id: ID, note: null, overlapSeconds: 0, json: false }],
  [
    ['keys', 'create', '--name', 'n', '--grant', 'viewer@team:t', '--expires', '12h'],
    {
      kind: 'keys',
      action: 'create',
      json: false,
      options: {
        name: 'n',
        description: null,
        isService: false,
        owner: null,
        isReadonly: false,
        grants: [{ role: 'VIEWER', scopeType: 'TEAM', scopeId: 't' }],
        permissions: [],
        projectIds: [],
        expires: { kind: 'in', ms: 12 * 3_600_000 },
      },
    },
  ],
  [['members', 'list'], { kind: 'members', action: 'list', json: false }],
  [
    ['members', 'role', 'a@b', 'viewer'],
    { kind: 'members', action: 'role', member: 'a@b', role: 'VIEWER', json: false },
  ],
  [['members', 'remove', 'a@b'], { kind: 'members', action: 'remove', member: 'a@b', json: false }],
])('%j is understood', (args, command) => {
  expect(readCommand(args)).toEqual(command);
});

it.each([
  [['start']],
  [['serve', 'more']],
  [['cpoy', ...URLS]],
  [['serve', ...URLS]],
  [['postgres://u:password@h/d']],
  [['migrate', 'now']],
  [['backup']],
  [['backup', '--to', '']],
  [['migrate', '--dry-run=yes']],
  [['copy']],
  [['copy', ...URLS.slice(0, 2)]],
  [['copy', ...URLS, '--force']],
  [['copy', ...URLS, 'more']],
  [['mint-admin-key']],
  [['mint-admin-key', '--email', '']],
  [['keys']],
  [['keys', 'list', 'more']],
  [['keys', 'create']],
  [['keys', 'create', '--name', 'n', '--grant', 'ADMIN']],
  [['keys', 'create', '--name', 'n', '--grant', 'ADMIN@project']],
  [['keys', 'create', '--name', 'n', '--grant', 'ADMIN@organization:o']],
  [['keys', 'create', '--name', 'n', '--expires', 'soon']],
  [['keys', 'create', '--name', 'n', '--readonly', '--permission', 'traces:view']],
  [['keys', 'revoke']],
  [['keys', 'revoke', ID, ID]],
  [['keys', 'revoke', 'password@h']],
  [['keys', 'rotate', ID, '--overlap', '-1']],
  [['members', 'add', '--email', 'a@b']],
  [['members', 'role', 'a@b']],
  [['members', 'remove', 'a@b', 'c@d']],
  [['members', 'rename', 'a@b']],
])('%j is refused, and no password is repeated', (args) => {
  const command = readCommand(args);
  expect(command.kind).toBe('wrong');
  expect(command).not.toMatchObject({ text: expect.stringContaining('password@h') });
});

it.each([['--help'], ['help'], ['-h'], ['migrate', '--help'], ['backup', '-h']])(
  'the help page lists every command: %s %s %s',
  (...args) => {
    const command = readCommand(args.filter((arg) => arg !== undefined));
    if (command.kind !== 'print') throw new Error('there is no help page');
    for (const name of [
      'spandrel [serve]',
      'spandrel migrate',
      'spandrel copy',
      'spandrel keys create',
      'spandrel members add',
      'spandrel --version',
    ]) {
      expect(command.text).toContain(name);
    }
  },
);

it.each([
  [['keys', '--help'], 'spandrel keys create'],
  [['keys', 'create', '--help'], 'spandrel keys rotate'],
  [['members', '-h'], 'spandrel members add'],
])('%j prints its own forms, what they read, and no settings', (args, form) => {
  const command = readCommand(args);
  if (command.kind !== 'print') throw new Error('there is no help page');
  expect(command.text).toContain(form);
  expect(command.text).toContain('SPANDREL_ADMIN_KEY');
  expect(command.text).not.toContain('SPANDREL_HOST');
});

it('a form that is wrong points to the page about it', () => {
  expect(readCommand(['keys', 'create'])).toMatchObject({ text: expect.stringContaining('spandrel keys --help') });
  expect(readCommand(['copy'])).toMatchObject({ text: expect.stringContaining('Run spandrel --help.') });
});
