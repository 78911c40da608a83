import { execFile } from 'node:child_process';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startApp, type TestApp } from '../support/app.ts';
import { type MockProvider, startMockProvider } from '../support/mock-provider.ts';
import { callRest } from '../support/surfaces.ts';
import { temporaryFolder } from '../support/temp.ts';

const run = promisify(execFile);

/** Stands in for curl, which a machine may not have, and notes the status of each answer. */
const CURL = `#!${process.execPath}
const { appendFileSync } = require('node:fs');
let url, method, body;
const headers = {};
const args = process.argv.slice(2);
for (let arg = args.shift(); arg !== undefined; arg = args.shift()) {
  if (arg === '-H') {
    const [name, value] = args.shift().split(': ');
    headers[name] = value;
  } else if (arg === '-X') method = args.shift();
  else if (arg === '-d') body = args.shift();
  else if (arg !== '-s') url = arg;
}
fetch(url, { method: method ?? (body === undefined ? 'GET' : 'POST'), headers, body }).then(async (response) => {
  const text = await response.text();
  appendFileSync(process.env.ANSWERS, response.status + ' ' + url + ' ' + text + '\\n');
  process.stdout.write(text + '\\n');
});
`;

const folder = temporaryFolder();
let app: TestApp;
/** Stands in for the model server of the pages. */
let local: MockProvider;
beforeAll(async () => {
  local = await startMockProvider();
  app = await startApp({ environment: { SPANDREL_GATEWAY_ALLOW: '127.0.0.1' } });
  writeFileSync(join(folder.path, 'curl'), CURL);
  chmodSync(join(folder.path, 'curl'), 0o755);
});
afterAll(async () => {
  folder.remove();
  await app.close();
  await local.close();
});

/** Runs the commands of a page one after the other, as a reader does; returns the answers that are not successful. */
async function runPage(name: string): Promise<readonly string[]> {
  const page = readFileSync(new URL(`../../docs/${name}.md`, import.meta.url), 'utf8');
  const snippets = [...page.matchAll(/^```sh\n(.*?)^```/gms)].map(([, snippet]) => snippet);
  const script = snippets.join('').replace('http://127.0.0.1:11434/v1', local.url);
  const answers = join(folder.path, `${name}.answers`);
  const env = {
    PATH: `${folder.path}:${process.env.PATH}`,
    SPANDREL_URL: app.address,
    SPANDREL_PROJECT_KEY: app.projectKey,
    SPANDREL_ADMIN_KEY: app.adminKey,
    SPANDREL_PROJECT_ID: app.projectId,
    ANSWERS: answers,
  };
  await run('bash', ['-eu', '-c', script], { env, cwd: folder.path });
  const lines = readFileSync(answers, 'utf8').trimEnd().split('\n');
  expect(lines.length).toBeGreaterThan(1);
  return lines.filter((line) => !/^20[0-9] /.test(line));
}

async function read(path: string) {
  return (await callRest(app.address, { path, headers: { 'x-auth-token': app.projectKey } })).body;
}

it('the commands about datasets and experiments succeed as they stand, and compare two runs', async () => {
  expect(await runPage('experiments')).toEqual([]);
  const compared = await read('/api/experiments/greetings/compare?base=monday&other=tuesday');
  expect(compared).toMatchObject({ in_both: 1, only_in_base: 0, only_in_other: 0 });
});

it('the commands about monitors succeed as they stand, and the monitor runs what it is named after', async () => {
  expect(await runPage('monitors')).toEqual([]);
  expect(await read('/api/monitors')).toMatchObject([
    { name: 'No secrets', checkType: 'langwatch/api_keys_and_secrets_detection' },
  ]);
});

it('the commands about the gateway succeed as they stand, and the first call reaches the model', async () => {
  expect(await runPage('gateway')).toEqual([]);
  expect(local.requests.map(({ body }) => JSON.parse(body.toString()).model)).toEqual(['llama3.2']);
  const headers = { authorization: `Bearer ${app.adminKey}` };
  const { body } = await callRest(app.address, { path: '/api/gateway/v1/virtual-keys', headers });
  expect(body.data).toMatchObject([{ name: 'checkout', config: { rate_limits: { rpm: 600 } } }, { name: 'first' }]);
});
