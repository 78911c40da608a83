import { LangWatch } from 'langwatch';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DatasetService } from '../../../gen/spandrel/v1/datasets_pb.js';
import { startApp, type TestApp } from '../../support/app.ts';
import { type Body, callRest, expectEverywhere, type SurfaceCase } from '../../support/surfaces.ts';

const { getDataset, listDatasets, createDataset, addDatasetEntries, deleteDataset } = DatasetService.method;

let app: TestApp;
let elsewhere: { readonly id: string; readonly key: string };
beforeAll(async () => {
  app = await startApp();
  const made = await callRest(app.address, {
    verb: 'POST',
    path: '/api/projects',
    body: { name: 'Elsewhere' },
    headers: { authorization: `Bearer ${app.adminKey}` },
  });
  const key = String(made.body.apiKey);
  elsewhere = { key, id: (await create({ name: 'Not mine' }, { 'x-auth-token': key })).id };
});
afterAll(() => app.close());

type Sent = { readonly name?: string; readonly entries?: unknown; readonly csv?: string; readonly jsonl?: string };
type Expected = Pick<SurfaceCase, 'status'> & Partial<Pick<SurfaceCase, 'code' | 'check' | 'headers'>>;

const key = () => ({ 'x-auth-token': app.projectKey });
const ask = (each: SurfaceCase) => expectEverywhere(app.address, each);
const messageOf = ({ entries, ...rest }: Sent) => ({
  ...rest,
  ...(entries === undefined ? {} : { entriesJson: JSON.stringify(entries) }),
});

async function create(body: Sent, headers: { readonly [name: string]: string } = key()): Promise<Body> {
  return (await callRest(app.address, { verb: 'POST', path: '/api/dataset', body, headers })).body;
}

const creating = (sent: Sent, expected: Expected): SurfaceCase => ({
  name: `create ${JSON.stringify(sent).slice(0, 60)}`,
  headers: key(),
  rest: { verb: 'POST', path: '/api/dataset', body: sent },
  rpc: { method: createDataset, request: messageOf(sent) },
  ...expected,
});

const adding = (id: string, sent: Sent, expected: Expected): SurfaceCase => ({
  name: `add to ${id}`,
  headers: key(),
  rest: { verb: 'POST', path: `/api/dataset/${id}/entries`, body: sent },
  rpc: { method: addDatasetEntries, request: { slugOrId: id, ...messageOf(sent) } },
  ...expected,
});

const reading = (id: string, expected: Expected, version?: number): SurfaceCase => ({
  name: `read ${id}`,
  headers: key(),
  rest: { path: `/api/dataset/${id}${version === undefined ? '' : `?version=${version}`}` },
  rpc: { method: getDataset, request: { slugOrId: id, ...(version === undefined ? {} : { version }) } },
  ...expected,
});

const deleting = (id: string, expected: Expected): SurfaceCase => ({
  name: `delete ${id}`,
  headers: key(),
  rest: { verb: 'DELETE', path: `/api/dataset/${id}` },
  rpc: { method: deleteDataset, request: { slugOrId: id } },
  ...expected,
});

const entriesOf = (body: Body): unknown[] => body.data.map(({ entry }: Body) => entry);
const holds = (...entries: unknown[]) => ({
  status: 200,
  check: (body: Body) => expect(entriesOf(body)).toEqual(entries),
});

const FORMS: readonly Sent[] = [
  {
    entries: [
      { input: 'a, "b"', expected_output: '1' },
      { input: 'ü\nv', expected_output: '' },
    ],
  },
  { csv: 'input,expected_output\r\n"a, ""b""",1\r\n"ü\nv",\r\n' },
  { jsonl: '{"input":"a, \\"b\\"","expected_output":"1"}\n\n{"input":"ü\\nv","expected_output":""}\n' },
];

const REFUSED: readonly Sent[] = [
  {},
  { name: ' ' },
  { name: 'x'.repeat(256) },
  { name: 'n', entries: [1] },
  { name: 'n', entries: { a: 1 } },
  { name: 'n', entries: [{ a: 'nul \0' }] },
  { name: 'n', jsonl: '{"a":1}\n{"a"' },
  { name: 'n', csv: 'a,a\n1,2' },
  { name: 'n', csv: 'a,b\n"1' },
  { name: 'n', csv: 'a', jsonl: '{}' },
];

it('is what the published client gets by its slug', async () => {
  const { id, slug } = await create({ name: 'n', entries: [{ input: 'hi', expected_output: 'hello' }] });
  const langwatch = new LangWatch({ apiKey: app.projectKey, endpoint: app.address });
  const { entries } = await langwatch.datasets.get(slug);
  expect(entries).toMatchObject([{ datasetId: id, entry: { input: 'hi', expected_output: 'hello' } }]);
  await expect(langwatch.datasets.get('unknown')).rejects.toThrow(/not found/i);
});

describe('a dataset', () => {
  it.each(FORMS)('is made of JSON, of CSV and of lines of JSON: %j', async (form) => {
    const { id, slug, ...rest } = await create({ name: ' Cases of Ü ', ...form });
    expect(rest).toMatchObject({ name: 'Cases of Ü', version: 1, entryCount: 2, projectId: app.projectId });
    expect(slug).toMatch(/^cases-of-u-[0-9a-z]{5}$/);
    const entries = [
      { input: 'a, "b"', expected_output: '1' },
      { input: 'ü\nv', expected_output: '' },
    ];
    await ask(reading(id, holds(...entries)));
    await ask(reading(slug, holds(...entries)));
  });

  it('answers entries as the published client reads them', async () => {
    const { id } = await create({ name: 'n', entries: [{ input: 1 }] });
    const { body } = await callRest(app.address, { path: `/api/dataset/${id}`, headers: key() });
    const instant = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
    const entry = { entry: { input: 1 }, createdAt: instant, updatedAt: instant };
    expect(body.data).toEqual([{ id: `${id}-0`, datasetId: id, projectId: app.projectId, ...entry }]);
  });

  it('keeps every member and digit, and texts that resemble an escaped character', async () => {
    const text = '{"name":"n","entries":[{"z":9007199254740993,"a":{"__proto__":1.50},"t":"\\\\u0000"}]}';
    const made = await callRest(app.address, { verb: 'POST', path: '/api/dataset', body: text, headers: key() });
    const read = await callRest(app.address, { path: `/api/dataset/${made.body.id}`, headers: key() });
    expect(read.text).toContain('{"z":9007199254740993,"a":{"__proto__":1.50},"t":"\\\\u0000"}');
  });

  it('grows by versions, of which each stays what it was', async () => {
    const { id } = await create({ name: 'n', entries: [{ n: 1 }] });
    const { body } = await callRest(app.address, {
      verb: 'POST',
      path: `/api/dataset/${id}/entries`,
      body: { jsonl: '{"n":2}' },
      headers: key(),
    });
    expect(body).toMatchObject({ version: 2, entryCount: 2 });
    await ask(reading(id, holds({ n: 1 }, { n: 2 })));
    await ask(reading(id, holds({ n: 1 }), 1));
    for (const version of [0, 3]) await ask(reading(id, { status: 404, code: 'dataset_version_not_found' }, version));
  });

  it('takes additions at the same time one after the other', async () => {
    const { id } = await create({ name: 'n' });
    const add = (n: number) =>
      callRest(app.address, {
        verb: 'POST',
        path: `/api/dataset/${id}/entries`,
        body: { entries: [{ n }] },
        headers: key(),
      });
    const answers = await Promise.all([1, 2, 3, 4, 5].map(add));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    const { body } = await callRest(app.address, { path: `/api/dataset/${id}`, headers: key() });
    expect(body.data.map(({ entry }: Body) => entry.n).toSorted()).toEqual([1, 2, 3, 4, 5]);
  });

  it.each(REFUSED)('is not made of %j', async (sent) => {
    await ask(creating(sent, { status: 422, code: 'validation_error' }));
  });

  it('has a limit, and stays as it was at it', async () => {
    const { id } = await create({ name: 'n', entries: [{ n: 1 }] });
    await ask(adding(id, { jsonl: '{}\n'.repeat(10_000) }, { status: 422, code: 'dataset_too_large' }));
    await ask(adding(id, {}, { status: 422, code: 'validation_error' }));
    await ask(reading(id, holds({ n: 1 })));
  });

  it('cannot be found after its deletion, nor from another project', async () => {
    const { id, slug } = await create({ name: 'n' });
    const removed = await callRest(app.address, { verb: 'DELETE', path: `/api/dataset/${id}`, headers: key() });
    expect([removed.status, removed.body]).toEqual([200, { success: true }]);
    for (const name of [id, slug, elsewhere.id, 'unknown']) {
      const hidden: Expected = { status: 404, code: 'dataset_not_found' };
      await ask(reading(name, hidden));
      await ask(adding(name, { entries: [{}] }, hidden));
      await ask(deleting(name, hidden));
    }
    await ask(reading(elsewhere.id, { ...holds(), headers: { 'x-auth-token': elsewhere.key } }));
  });

  it('is listed only in its project, the newest first', async () => {
    const { id } = await create({ name: 'newest' });
    await ask({
      name: 'list',
      headers: key(),
      rest: { path: '/api/dataset' },
      rpc: { method: listDatasets, request: {} },
      status: 200,
      check({ data }) {
        const ids = data.map((each: Body) => each.id);
        expect(ids).toContain(id);
        expect(ids).not.toContain(elsewhere.id);
        const created = data.map(({ createdAt }: Body) => createdAt);
        expect(created).toEqual(created.toSorted().reverse());
      },
    });
  });

  it('is refused without a credential and with a wrong one', async () => {
    const { id } = await create({ name: 'n' });
    const refusals: readonly Expected[] = [
      { status: 401, code: 'missing_credentials', headers: {} },
      { status: 401, code: 'invalid_credentials', headers: { 'x-auth-token': 'sk-lw-wrong' } },
    ];
    for (const refused of refusals) {
      await ask(reading(id, refused));
      await ask(creating({ name: 'n' }, refused));
      await ask(adding(id, { entries: [{}] }, refused));
      await ask(deleting(id, refused));
    }
  });
});
