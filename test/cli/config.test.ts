import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { SETTINGS } from '../../src/config/config.ts';
import { startApp } from '../support/app.ts';
import { temporaryFolder } from '../support/temp.ts';
import { runCli } from './run-cli.ts';

const folder = temporaryFolder();
afterAll(() => folder.remove());

describe('config', () => {
  it('prints every setting in force with its source, and no secret', async () => {
    const secretFile = join(folder.path, 'secret-of-the-platform');
    writeFileSync(secretFile, 'a secret of the platform, long enough');
    const file = join(folder.path, 'settings.env');
    writeFileSync(
      file,
      '# of the host\nSPANDREL_PORT=81\nSPANDREL_LLM_BASE_URL=https://user:hidden@llm.example/v1?api_key=hidden\n',
    );
    const { code, stdout } = await runCli(['config'], {
      SPANDREL_CONFIG: file,
      SPANDREL_SECRET_FILE: secretFile,
      SPANDREL_DATABASE_URL: 'postgres://user:hidden@db.example/spandrel',
      SPANDREL_LLM_API_KEY: 'hidden',
      AWS_REGION: 'eu-west-1',
    });
    expect(code).toBe(0);
    const lines = stdout
      .trimEnd()
      .split('\n')
      .map((line) => line.split(/\s{2,}/));
    expect(lines.map(([name]) => name)).toEqual(['setting', ...SETTINGS.map(({ name }) => name), 'AWS_REGION']);
    const shown = new Map(lines.map(([name = '', ...others]) => [name, others]));
    expect(shown.get('SPANDREL_PORT')).toEqual(['81', `${file}, line 2`]);
    expect(shown.get('SPANDREL_HOST')).toEqual(['127.0.0.1', 'default']);
    expect(shown.get('SPANDREL_SECRET')).toEqual(['****', 'the file of SPANDREL_SECRET_FILE']);
    expect(shown.get('SPANDREL_DATABASE_URL')).toEqual(['postgres://user:****@db.example/spandrel', 'environment']);
    expect(shown.get('AWS_REGION')).toEqual(['eu-west-1', 'environment']);
    expect(stdout).not.toMatch(/hidden|of the platform, long/);
  });

  it.each(['12345#hidden9x', '12345?hidden9x', '12345/hidden9x'])(
    'prints no part of the password %s',
    async (password) => {
      const { code, stdout, stderr } = await runCli(['config'], {
        SPANDREL_DATABASE_URL: `postgres://spandrel:${password}@db.example:5432/spandrel`,
      });
      expect(stdout + stderr).not.toMatch(/hidden/);
      expect(stdout).toMatch(/^SPANDREL_DATABASE_URL +\*\*\*\* +environment$/m);
      expect(code).toBe(password.includes('#') ? 1 : 0);
    },
  );

  it('prints them also if a start would be refused, and says why', async () => {
    const { code, stdout, stderr } = await runCli(['config'], { SPANDREL_PORT: 'many', SPANDREL_PROT: '1' });
    expect(code).toBe(1);
    expect(stdout).toMatch(/^SPANDREL_PORT +many +environment$/m);
    expect(stderr).toMatch(/^spandrel: SPANDREL_PROT is not .*\nspandrel: SPANDREL_PORT must be .*\n$/);
  });
});

describe('healthcheck', () => {
  it('tells a server that is ready from none, and from another program', async () => {
    const app = await startApp();
    const environment = { SPANDREL_PORT: new URL(app.address).port, SPANDREL_HOST: '0.0.0.0' };
    expect(await runCli(['healthcheck'], environment)).toEqual({ code: 0, stdout: 'ready\n', stderr: '' });
    await app.close();
    expect(await runCli(['healthcheck'], environment)).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^spandrel: no server answers on port \d+ \(.*ECONNREFUSED.*\)\n$/),
    });
    const other = createServer((_, response) => response.end('ready')).listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    const { code, stderr } = await runCli(['healthcheck'], { SPANDREL_PORT: String(port) });
    other.close();
    expect({ code, stderr }).toEqual({ code: 1, stderr: `spandrel: another program answers on port ${port}\n` });
    expect((await runCli(['healthcheck'], { SPANDREL_PORT: '0' })).stderr).toMatch(/picks another port/);
  });
});
