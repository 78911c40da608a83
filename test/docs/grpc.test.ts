import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../support/app.ts';

const ROOT = new URL('../../', import.meta.url).pathname;
const PAGE = readFileSync(join(ROOT, 'docs/grpc.md'), 'utf8');
const BIN = join(ROOT, 'node_modules/.bin');
const run = promisify(execFile);

let app: TestApp;
let folder: string;
let environment: NodeJS.ProcessEnv;
beforeAll(async () => {
  app = await startApp();
  folder = mkdtempSync(join(tmpdir(), 'spandrel-client-'));
  environment = {
    PATH: `${BIN}:${process.env.PATH}`,
    HOME: folder,
    SPANDREL_URL: app.address,
    SPANDREL_PROJECT_KEY: app.projectKey,
    SPANDREL_ADMIN_KEY: app.adminKey,
  };
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await app.close();
});

/** The first snippet of a language below a heading. */
function snippetOf(heading: string, language: string): string {
  const [, section = ''] = PAGE.split(`\n## ${heading}\n`);
  const [, snippet] = new RegExp(`\`\`\`${language}\n([\\s\\S]*?)\`\`\``).exec(section) ?? [];
  if (snippet === undefined) throw new Error(`no ${language} below ${heading}`);
  return snippet;
}

it('buf curl lists, collects and reads as the page says', async () => {
  const script = snippetOf('Without generating anything', 'sh').replaceAll('npx buf', 'buf');
  const { stdout } = await run('sh', ['-e', '-c', script], { env: environment, cwd: folder });
  expect(stdout).toContain('spandrel.v1.TraceService/GetTrace');
  expect(stdout).toContain('"spanId": "s1"');
});

it('buf curl makes an endpoint for a queue as the page says', async () => {
  const script = snippetOf('A webhook endpoint for a queue', 'sh').replaceAll('npx buf', 'buf');
  const { stdout } = await run('sh', ['-e', '-c', script], { env: environment, cwd: folder });
  expect(JSON.parse(stdout).data).toMatchObject({
    destinationKind: 'DESTINATION_KIND_SQS',
    sqs: { queueName: 'spandrel', accessKeys: { accessKeyId: 'AKIAIOSFODNN7EXAMPLE' } },
  });
});

describe('a folder that has installed the package by its path', () => {
  const PACKAGES = ['@connectrpc/connect', '@connectrpc/connect-node', '@bufbuild/protobuf', '@types/node'];

  beforeAll(() => {
    // As npm lays out a package that is installed by its path, and others beside it.
    for (const name of PACKAGES) link(join(ROOT, 'node_modules', name), name);
    link(ROOT, 'spandrel');
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
    writeFileSync(join(folder, 'first.ts'), snippetOf('TypeScript in Node', 'ts'));
  });

  function link(target: string, name: string): void {
    const path = join(folder, 'node_modules', name);
    mkdirSync(dirname(path), { recursive: true });
    symlinkSync(target, path);
  }

  it('has the types of what the page shows', async () => {
    const options = ['--noEmit', '--strict', '--target', 'es2023', '--module', 'nodenext', '--types', 'node'];
    const checked = run('tsc', [...options, 'first.ts'], { env: environment, cwd: folder });
    await expect(checked.catch(({ stdout }: { stdout: string }) => ({ stdout }))).resolves.toMatchObject({
      stdout: '',
    });
  });

  it('collects, reads, pages and reads a typed error over gRPC', async () => {
    const { stdout } = await run(process.execPath, ['first.ts'], { env: environment, cwd: folder });
    expect(stdout.split('\n')).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^spans: 1n cost: 0\.\d+$/),
        expect.stringMatching(/^key: /),
        expect.stringMatching(/^error: NotFound TRACE_NOT_FOUND \d$/),
      ]),
    );
  });
});
