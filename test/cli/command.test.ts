import { expect, it } from 'vitest';
import { readCommand } from '../../src/cli/command.ts';

const URLS = ['--from', 'sqlite:a.db', '--to', 'postgres://u:password@h/d'];

it.each([
  [[], { kind: 'serve' }],
  [['serve'], { kind: 'serve' }],
  [['migrate'], { kind: 'migrate', isDryRun: false }],
  [['migrate', '--dry-run'], { kind: 'migrate', isDryRun: true }],
  [['backup', '--to', 'copy.db'], { kind: 'backup', to: 'copy.db' }],
  [['copy', ...URLS], { kind: 'copy', from: 'sqlite:a.db', to: 'postgres://u:password@h/d' }],
  [['copy', '--to=postgres://h/d', '--from=sqlite:a.db'], { kind: 'copy', from: 'sqlite:a.db', to: 'postgres://h/d' }],
])('%j is understood', (args, command) => {
  expect(readCommand(args)).toEqual(command);
});

it.each([
  [['start']],
  [['serve', 'more']],
  [['migrate', 'now']],
  [['backup']],
  [['backup', '--to', '']],
  [['migrate', '--dry-run=yes']],
  [['copy']],
  [['copy', ...URLS.slice(0, 2)]],
  [['copy', ...URLS, '--force']],
  [['copy', ...URLS, 'more']],
])('%j is refused, and no password is repeated', (args) => {
  const command = readCommand(args);
  expect(command.kind).toBe('wrong');
  expect(command).not.toMatchObject({ text: expect.stringContaining('password@h') });
});

it('the help page lists every command', () => {
  const command = readCommand(['--help']);
  if (command.kind !== 'print') throw new Error('there is no help page');
  for (const name of ['spandrel [serve]', 'spandrel migrate', 'spandrel copy', 'spandrel --version']) {
    expect(command.text).toContain(name);
  }
});
