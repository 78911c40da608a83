import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { openClickHouse } from '../../src/storage/clickhouse/client.ts';
import { inspectClickHouse } from '../../src/storage/clickhouse/index-engine.ts';

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

/** A server in the place of ClickHouse; returns its address. */
async function serve(answer: RequestListener): Promise<string> {
  const server = createServer(answer);
  await once(server.listen(0, '127.0.0.1'), 'listening');
  ends.push(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return `clickhouse://127.0.0.1:${(server.address() as AddressInfo).port}/spandrel`;
}

function open(address: string) {
  const clickHouse = openClickHouse(address);
  ends.push(clickHouse.close);
  return clickHouse;
}

it('a failure tells clients neither where ClickHouse is nor what it said', async () => {
  const { rows } = open('clickhouse://127.0.0.1:9/none');
  const error: Error = await rows('SELECT 1').then(
    () => expect.unreachable(),
    (reason) => reason,
  );
  expect(error).toMatchObject({
    code: 'unavailable',
    message: 'Traces cannot be searched or summed up right now. Try again.',
    cause: expect.objectContaining({ message: expect.stringContaining('ECONNREFUSED') }),
  });
});

it.each([
  [516, 'Authentication failed: password is incorrect'],
  [164, 'Cannot modify setting in readonly mode'],
  [497, 'Not enough privileges'],
])('a server that refuses the user with %i is refused at the start, and is unavailable later', async (code, reason) => {
  const address = await serve(async (request, response) => {
    let statement = '';
    for await (const chunk of request) statement += chunk;
    // What needs no right is answered to every user who is let in.
    if (code === 497 && statement.includes('version()')) {
      response.end('{"version":"26.7.2.1","readonly":0}\n');
      return;
    }
    response.writeHead(500, { 'x-clickhouse-exception-code': String(code) });
    response.end(`Code: ${code}. DB::Exception: ${reason}. (SOME_NAME) (version 26.7.2.1)`);
  });
  await expect(inspectClickHouse(address)).rejects.toThrow(
    new RegExp(`refuses the user of SPANDREL_TELEMETRY_URL .*${reason}.*: correct name and password`),
  );
  await expect(open(address).rows('SELECT 1')).rejects.toMatchObject({ code: 'unavailable' });
});

it('tables of another version are refused at the start, and nothing is changed', async () => {
  const statements: string[] = [];
  const address = await serve(async (request, response) => {
    let statement = '';
    for await (const chunk of request) statement += chunk;
    statements.push(statement);
    if (statement.includes('version()')) response.end('{"version":"26.7.2.1","readonly":0}\n');
    else if (statement.includes('EXISTS')) response.end('{"result":1}\n');
    else response.end('{"fingerprint":"0000000000000000"}\n');
  });
  await expect(inspectClickHouse(address)).rejects.toThrow('the tables in ClickHouse are of another version');
  expect(statements.every((each) => /^(SELECT|EXISTS)/.test(each))).toBe(true);
});
