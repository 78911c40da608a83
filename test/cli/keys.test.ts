import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../support/app.ts';
import { KNOWN_KEYS } from '../support/installation.ts';
import { ADMIN_KEY, PROJECT_KEY } from '../support/server.ts';
import { callRest } from '../support/surfaces.ts';
import { type CliOutcome, runCli, runCliProcess } from './run-cli.ts';

let server: TestApp;
beforeAll(async () => {
  server = await startApp({ environment: KNOWN_KEYS });
});
afterAll(async () => {
  await server.close();
});

function run(args: readonly string[], key = ADMIN_KEY): Promise<CliOutcome> {
  return runCli(args, { SPANDREL_URL: `${server.address}/`, SPANDREL_ADMIN_KEY: key });
}

/** What a command prints when all goes well. */
async function printed(...args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await run(args);
  expect({ args, code, stderr }).toEqual({ args, code: 0, stderr: '' });
  return stdout;
}

const field = (text: string, name: string) => new RegExp(`^${name} +(\\S.*)$`, 'm').exec(text)?.[1] ?? '';
const read = (path: string, token: string) =>
  callRest(server.address, { path, headers: { authorization: `Bearer ${token}` } });

describe('spandrel keys', () => {
  it('mints a key with the requested permissions, and revokes it', async () => {
    const created = await printed('keys', 'create', '--name', 'dashboard', '--grant', 'viewer@organization');
    const [id, token] = [field(created, 'id'), field(created, 'token')];
    expect(field(created, 'grants')).toBe('VIEWER@organization');
    expect((await read('/api/organization', token)).status).toBe(200);
    expect((await read('/api/organization/members', token)).status).toBe(403);
    const environment = { SPANDREL_URL: server.address, SPANDREL_ADMIN_KEY: ADMIN_KEY };
    const { code, stdout: list, stderr } = await runCliProcess(['keys', 'list'], environment);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(list).toMatch(new RegExp(`^${id} +personal +dashboard +user_\\w+ +VIEWER@organization +- `, 'm'));
    expect(await printed('keys', 'revoke', id)).toBe(`revoked ${id}\n`);
    expect((await read('/api/organization', token)).status).toBe(401);
    expect(await printed('keys', 'list')).not.toContain(id);
    expect(await printed('keys', 'list', '--revoked')).toContain(id);
  });

  it('mints a service key for one project, with an end', async () => {
    const { body } = await read('/api/projects', ADMIN_KEY);
    const args = ['--name', 'ci', '--service', '--project', body.data[0].id, '--expires', '30d', '--description', 'CI'];
    const created = JSON.parse(await printed('keys', 'create', '--json', ...args));
    expect(created.apiKey).toMatchObject({ keyType: 'service', projectIds: [body.data[0].id], description: 'CI' });
    expect(Date.parse(created.apiKey.expiresAt) - Date.now()).toBeGreaterThan(29 * 86_400_000);
    expect((await read('/api/organization', created.token)).status).toBe(403);
    expect(await printed('keys', 'list', '--organization')).toContain(created.id);
  });

  it('mints a key for a member who is named by e-mail, labelled readonly', async () => {
    const member = JSON.parse(
      await printed('members', 'add', '--json', '--email', 'Vic@example.com', '--name', 'Vic', '--role', 'VIEWER'),
    );
    const args = ['--name', 'looks', '--for', 'VIC@example.com', '--readonly', '--grant', 'VIEWER@organization'];
    const created = JSON.parse(await printed('keys', 'create', '--json', ...args));
    expect(created.apiKey).toMatchObject({ userId: member.userId, permissionMode: 'readonly' });
  });

  it('says before it mints a key labelled readonly that its grants write', async () => {
    const warning = 'spandrel: --readonly does not restrict the key: without --grant VIEWER@... alone it may write\n';
    for (const grants of [[], ['--grant', 'MEMBER@organization']]) {
      const { code, stderr } = await run(['keys', 'create', '--name', 'label', '--readonly', ...grants]);
      expect({ code, stderr }).toEqual({ code: 0, stderr: warning });
    }
  });

  it('mints a restricted key', async () => {
    const args = ['--grant', 'CUSTOM@organization', '--permission', 'auditLog:view', '--permission', 'cost:view'];
    const created = JSON.parse(await printed('keys', 'create', '--name', 'auditor', '--json', ...args));
    expect(created.apiKey).toMatchObject({
      permissionMode: 'restricted',
      effectivePermissions: ['auditLog:view', 'cost:view'],
    });
  });

  it('gives a key a new token, at once or with an overlap', async () => {
    const created = JSON.parse(await printed('keys', 'create', '--json', '--name', 'turning'));
    const rotated = field(await printed('keys', 'rotate', created.id, '--overlap', '600'), 'token');
    const again = JSON.parse(await printed('keys', 'rotate', created.id, '--json')).token;
    const statuses = [];
    for (const token of [created.token, rotated, again]) statuses.push((await read('/api/organization', token)).status);
    expect(statuses).toEqual([401, 401, 200]);
  });

  it('takes the token of a key for its id, says so, and sends no more than the id', async () => {
    const seen: string[] = [];
    const proxy = createServer((request, response) => {
      seen.push(`${request.method} ${request.url}`);
      const { method: verb = '', url = '', headers } = request;
      callRest(server.address, { verb, path: url, headers: { authorization: headers.authorization ?? '' } }).then(
        ({ status, text }) => response.writeHead(status).end(text),
        (error) => response.destroy(error),
      );
    });
    await once(proxy.listen(0, '127.0.0.1'), 'listening');
    const { port } = proxy.address() as AddressInfo;
    const environment = { SPANDREL_URL: `http://127.0.0.1:${port}`, SPANDREL_ADMIN_KEY: ADMIN_KEY };
    const { id, token } = JSON.parse(await printed('keys', 'create', '--json', '--name', 'mistaken'));
    const rotated = await runCli(['keys', 'rotate', token, '--json'], environment);
    const revoked = await runCli(['keys', 'revoke', token], environment);
    proxy.close();
    expect(JSON.parse(rotated.stdout).apiKey.id).toBe(id);
    expect(revoked).toMatchObject({ code: 0, stdout: `revoked ${id}\n` });
    for (const { stderr } of [rotated, revoked]) {
      expect(stderr).toMatch(new RegExp(`^spandrel: [^\n]*whole token[^\n]*${id}[^\n]*\n$`));
      expect(stderr).not.toContain(token.slice(-48));
    }
    expect(seen).toEqual([`POST /api/api-keys/${id}/rotate`, `DELETE /api/api-keys/${id}`]);
    expect((await read('/api/organization', token)).status).toBe(401);
  });

  it.each([
    ['keys', 'revoke', PROJECT_KEY],
    ['keys', 'rotate', PROJECT_KEY],
    ['keys', 'create', '--name', 'x', '--for', ADMIN_KEY],
    ['keys', 'create', '--name', 'x', '--service', '--project', PROJECT_KEY],
    ['keys', 'create', '--name', 'x', '--grant', `VIEWER@project:${PROJECT_KEY}`],
    ['members', 'remove', ADMIN_KEY],
    ['members', 'role', encodeURIComponent(encodeURIComponent(ADMIN_KEY)).replace('_', '%5F'), 'VIEWER'],
    ['members', 'disable', PROJECT_KEY],
    ['keys', ADMIN_KEY],
    ['members', 'list', ADMIN_KEY],
    ['keys', 'list', `--${ADMIN_KEY}`],
    [ADMIN_KEY],
  ])('%s %s: a token in place of another argument is sent nowhere and not printed', async (...args) => {
    // Whatever asked there would say that it got no answer.
    const { code, stdout, stderr } = await runCli(args, {
      SPANDREL_URL: 'http://127.0.0.1:9',
      SPANDREL_ADMIN_KEY: ADMIN_KEY,
    });
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).not.toContain('no answer');
    for (const token of [ADMIN_KEY, PROJECT_KEY]) expect(stderr).not.toContain(token.slice(-48));
    if (args.length > 2 && args[1] !== 'list') expect(stderr).toMatch(/token/);
  });

  it.each([
    [['keys', 'revoke', '0000000000000000'], ADMIN_KEY, /^spandrel: .*\(api_key_not_found\)\n$/],
    [['keys', 'create', '--name', ' '], ADMIN_KEY, /^spandrel: [^\n]*name[^\n]*\(validation_error\)\n$/],
    [
      ['keys', 'create', '--name', 'x', '--for', 'no@body'],
      ADMIN_KEY,
      /^spandrel: no member has the e-mail no@body\n$/,
    ],
    [['keys', 'list'], `${ADMIN_KEY.slice(0, -1)}0`, /^spandrel: .*\(invalid_credentials\)\n$/],
    [['keys', 'list'], '', /^spandrel: SPANDREL_ADMIN_KEY must/],
    [['keys', 'create', '--name', 'x', '--grant', 'VIEWER@project:none'], ADMIN_KEY, /\(api_key_scope_violation\)\n$/],
  ])('%j says in one line why not', async (args, key, reason) => {
    const { code, stdout, stderr } = await run(args, key);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(reason);
    expect(stderr.trim()).not.toContain('\n');
  });

  it('says that there is no server, and at which address', async () => {
    const nowhere = { SPANDREL_URL: 'http://127.0.0.1:9', SPANDREL_ADMIN_KEY: ADMIN_KEY };
    const { code, stderr } = await runCliProcess(['keys', 'list'], nowhere);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^spandrel: no answer from http:\/\/127\.0\.0\.1:9 .*SPANDREL_URL.*\n$/);
  });

  it('shows no control characters of a name', async () => {
    const { body } = await read('/api/organization', ADMIN_KEY);
    const bindings = [{ role: 'VIEWER', scopeType: 'ORGANIZATION', scopeId: body.id }];
    const headers = { authorization: `Bearer ${ADMIN_KEY}` };
    const sent = { name: 'red\u001b[31m\nline', bindings };
    expect((await callRest(server.address, { verb: 'POST', path: '/api/api-keys', body: sent, headers })).status).toBe(
      201,
    );
    expect(await printed('keys', 'list')).toContain(' red?[31m?line ');
  });
});

describe('spandrel members', () => {
  it('adds, promotes, disables, enables and removes a member, named by e-mail or id', async () => {
    const added = await printed('members', 'add', '--email', 'Ann@Example.com', '--name', 'Ann');
    const id = /^user_\w+/m.exec(added)?.[0] ?? '';
    expect(await printed('members', 'list')).toMatch(new RegExp(`^${id} +ann@example.com +Ann +MEMBER +- `, 'm'));
    expect(await printed('members', 'role', 'ann@EXAMPLE.com', 'viewer')).toMatch(/ VIEWER +- /);
    expect(await printed('members', 'disable', id)).toMatch(/ VIEWER +2\d{3}-/);
    expect(JSON.parse(await printed('members', 'enable', id, '--json'))).toMatchObject({ userId: id, disabled: false });
    expect(await printed('members', 'remove', id)).toBe(`removed ${id}\n`);
    expect(await printed('members', 'list')).not.toContain(id);
  });

  it.each([
    [['members', 'remove', 'nobody@example.com'], /^spandrel: no member has the e-mail nobody@example\.com\n$/],
    [['members', 'disable', 'admin@localhost'], /\(cannot_disable_last_admin\)\n$/],
  ])('%j says in one line why not', async (args, reason) => {
    const { code, stderr } = await run(args);
    expect(code).toBe(1);
    expect(stderr).toMatch(reason);
  });
});
