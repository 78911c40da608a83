/** Members that a search does not have, over every protocol that carries JSON. */

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../../support/app.ts';
import { type Body, callRest } from '../../support/surfaces.ts';

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(async () => {
  await app.close();
});

const headers = () => ({ 'x-auth-token': app.projectKey });
const rest = (path: string, body: unknown, sent: Readonly<Record<string, string>> = headers()) =>
  callRest(app.address, { verb: 'POST', path, headers: sent, body });

function connect(rpc: string, message: object): Promise<Response> {
  return fetch(`${app.address}/spandrel.v1.TraceService/${rpc}`, {
    method: 'POST',
    headers: { ...headers(), 'content-type': 'application/json' },
    body: JSON.stringify(message),
  });
}

const NEAREST = 'pagesize is not a member of this request, the nearest is pageSize';

describe('a search with an unknown member', () => {
  it.each(['/api/traces/search', '/api/trace/search'])('is refused, and told the nearest name (%s)', async (path) => {
    const { status, body } = await rest(path, { pagesize: 5, startdate: 0 });
    expect(status).toBe(422);
    expect(body).toMatchObject({ code: 'validation_error', target: 'json', fields: ['pagesize', 'startdate'] });
    expect(body.reasons.map(({ message }: Body) => message)).toEqual([
      NEAREST,
      'startdate is not a member of this request, the nearest is startDate',
    ]);
  });

  it('is refused together with its other problems, after the credential was checked', async () => {
    const { body } = await rest('/api/traces/search', { pageSize: 0, filters: { nope: [] }, colour: 'red' });
    expect(body.fields.toSorted()).toEqual(['colour', 'filters.nope', 'pageSize']);
    const [{ message }] = body.reasons.filter(({ meta }: Body) => meta.field === 'colour');
    expect(message).toMatch(
      /^colour is not a member of this request; its members are startDate, endDate, query, filters,/,
    );
    expect((await rest('/api/traces/search', { colour: 'red' }, {})).status).toBe(401);
  });

  it('goes on where the member is null, which is the same as not sent', async () => {
    expect((await rest('/api/traces/search', { colour: null, query: null, pageSize: 1 })).status).toBe(200);
    expect((await rest('/api/traces/export', { scrollId: null, pageSize: null })).status).toBe(200);
  });

  it('takes names such as __proto__ and constructor for what they are', async () => {
    const { status, body } = await rest('/api/traces/search', '{"__proto__":{"query":"x"},"constructor":1}');
    expect([status, body.fields]).toEqual([422, ['__proto__', 'constructor']]);
  });

  it('is refused over Connect, by POST and by GET, with the names of its JSON', async () => {
    const query = new URLSearchParams({ connect: 'v1', encoding: 'json', message: '{"pagesize":5}' });
    for (const answer of [
      await connect('SearchTraces', { pagesize: 5 }),
      await fetch(`${app.address}/spandrel.v1.TraceService/SearchTraces?${query}`, { headers: headers() }),
    ]) {
      expect(answer.status).toBe(400);
      const { code, message, details } = (await answer.json()) as Body;
      expect([code, message]).toEqual(['invalid_argument', `The request body is invalid: ${NEAREST}.`]);
      expect(details.map(({ type }: Body) => type)).toEqual(['google.rpc.ErrorInfo', 'google.rpc.BadRequest']);
    }
    const misspelled = await connect('SearchTraces', { negatefilters: true });
    expect(((await misspelled.json()) as Body).message).toContain('the nearest is negateFilters');
    expect((await connect('SearchTraces', { pageSize: 5, negate_filters: true })).status).toBe(200);
  });

  it('is refused by an export too, which has no pages', async () => {
    const { status, body } = await rest('/api/traces/export', { querry: 'x', pageSize: 5 });
    expect([status, body.fields]).toEqual([422, ['querry', 'pageSize']]);
    expect(body.reasons[0].message).toBe('querry is not a member of this request, the nearest is query');
  });

  it('over a stream of Connect is refused in its end', async () => {
    const message = Buffer.from('{"querry":"x"}');
    const prefix = Buffer.alloc(5);
    prefix.writeUInt32BE(message.length, 1);
    const answer = await fetch(`${app.address}/spandrel.v1.TraceService/ExportTraces`, {
      method: 'POST',
      headers: { ...headers(), 'content-type': 'application/connect+json' },
      body: Buffer.concat([prefix, message]),
    });
    const end = Buffer.from(await answer.arrayBuffer()).subarray(5);
    expect(JSON.parse(end.toString()).error).toMatchObject({
      code: 'invalid_argument',
      message: expect.stringContaining('the nearest is query'),
    });
  });
});

it('requests of other operations still ignore unknown members', async () => {
  expect((await connect('ValidateCredential', { colour: 'red' })).status).toBe(200);
  expect(
    (await rest('/api/evaluators', { name: 'n', colour: 'red', config: { evaluatorType: 'langevals/basic' } })).status,
  ).toBe(200);
});
