import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DashboardService, GraphService } from '../../../gen/spandrel/v1/dashboards_pb.js';
import { startApp, type TestApp } from '../../support/app.ts';
import { hex } from '../../support/fixtures.ts';
import { type Body, callRest, expectEverywhere } from '../../support/surfaces.ts';
import { act } from '../organization/organization-client.ts';

const dashboards = DashboardService.method;
const graphs = GraphService.method;

let app: TestApp;
beforeAll(async () => {
  app = await startApp();
});
afterAll(async () => {
  await app.close();
});

const key = () => ({ 'x-auth-token': app.projectKey });
const call = (verb: string, path: string, body?: unknown, headers = key()) =>
  callRest(app.address, { verb, path, headers, ...(body === undefined ? {} : { body }) });

async function make(path: string, body: object): Promise<Body> {
  const answer = await call('POST', path, body);
  expect(answer.status, answer.text).toBe(201);
  return answer.body;
}

const makeDashboard = (name = `d-${hex(8)}`) => make('/api/dashboards', { name });
const GRAPH = { series: [{ metric: 'metadata.trace_id', aggregation: 'cardinality' }], timeScale: 60 };
const makeGraph = (more: object = {}) => make('/api/graphs', { name: 'Traces', graph: GRAPH, ...more });

/** Of a project of its own, because orders and limits are per project. */
async function otherProject() {
  const { teamId } = (await act(app, 'GET', '/api/projects')).data[0];
  const project = await act(app, 'POST', '/api/projects', { name: `p-${hex(8)}`, teamId });
  return { 'x-auth-token': app.adminKey, 'x-project-id': project.id as string };
}

describe('a dashboard', () => {
  it('is made after the last one, alike over every surface, and links to its page', async () => {
    const { order } = await makeDashboard();
    const made: number[] = [];
    await expectEverywhere(app.address, {
      name: 'create',
      headers: key(),
      rest: { verb: 'POST', path: '/api/dashboards', body: { name: '  Support  ' } },
      rpc: { method: dashboards.createDashboard, request: { name: '  Support  ' } },
      status: 201,
      check: (body) => {
        made.push(body.order);
        expect(body).toEqual({
          id: expect.stringMatching(/^dashboard_[0-9A-Za-z]{21}$/),
          name: 'Support',
          order: expect.any(Number),
          createdAt: expect.any(String),
          updatedAt: expect.any(String),
          platformUrl: expect.stringMatching(new RegExp(`^${app.address}/[^/]+/dashboards/${body.id}$`)),
        });
      },
    });
    expect(made).toEqual(made.map((_, index) => order + 1 + index));
  });

  it('is listed with the number of its graphs, and read with them by row and column', async () => {
    const { id: dashboardId } = await makeDashboard();
    const [low, right, left] = [
      await makeGraph({ dashboardId, gridRow: 3 }),
      await makeGraph({ dashboardId, gridRow: 0, gridColumn: 1 }),
      await makeGraph({ dashboardId, gridRow: 0 }),
    ];
    const ids = [left.id, right.id, low.id];
    await expectEverywhere(app.address, {
      name: 'list',
      headers: key(),
      rest: { path: '/api/dashboards' },
      rpc: { method: dashboards.listDashboards, request: {} },
      status: 200,
      check: ({ data }) => expect(data.find((each: Body) => each.id === dashboardId).graphCount).toBe(3),
    });
    await expectEverywhere(app.address, {
      name: 'get',
      headers: key(),
      rest: { path: `/api/dashboards/${dashboardId}` },
      rpc: { method: dashboards.getDashboard, request: { id: dashboardId } },
      status: 200,
      check: (body) => {
        expect(body.graphCount).toBeUndefined();
        expect(body.graphs.map((each: Body) => each.id)).toEqual(ids);
      },
    });
    await expectEverywhere(app.address, {
      name: 'list its graphs',
      headers: key(),
      rest: { path: `/api/graphs?dashboardId=${dashboardId}` },
      rpc: { method: graphs.listGraphs, request: { dashboardId } },
      status: 200,
      check: (body) => expect((Array.isArray(body) ? body : body.graphs).map((each: Body) => each.id)).toEqual(ids),
    });
  });

  it('is renamed, and deleted with its graphs', async () => {
    const { id } = await makeDashboard();
    const graph = await makeGraph({ dashboardId: id });
    await expectEverywhere(app.address, {
      name: 'rename',
      headers: key(),
      rest: { verb: 'PATCH', path: `/api/dashboards/${id}`, body: { name: 'Renamed' } },
      rpc: { method: dashboards.renameDashboard, request: { id, name: 'Renamed' } },
      status: 200,
      check: (body) => expect(body).toMatchObject({ id, name: 'Renamed' }),
    });
    const removed = await call('DELETE', `/api/dashboards/${id}`);
    expect([removed.status, removed.body]).toEqual([200, { id, name: 'Renamed' }]);
    expect((await call('GET', `/api/dashboards/${id}`)).status).toBe(404);
    expect((await call('GET', `/api/graphs/${graph.id}`)).status).toBe(404);
  });

  it('changes its place with others, and is in the audit log', async () => {
    const headers = await otherProject();
    const create = async (name: string) => (await call('POST', '/api/dashboards', { name }, headers)).body;
    const [first, second, third] = [await create('1'), await create('2'), await create('3')];
    await expectEverywhere(app.address, {
      name: 'reorder',
      headers,
      rest: { verb: 'PUT', path: '/api/dashboards/reorder', body: { dashboardIds: [third.id, first.id] } },
      rpc: { method: dashboards.reorderDashboards, request: { dashboardIds: [third.id, first.id] } },
      status: 200,
      check: (body) => expect(body).toEqual({ success: true }),
    });
    const { data } = (await call('GET', '/api/dashboards', undefined, headers)).body;
    expect(data.map((each: Body) => [each.id, each.order])).toEqual([
      [third.id, 0],
      [first.id, 1],
      [second.id, 2],
    ]);
    const audit = await act(app, 'GET', `/api/audit-log?targetId=${first.id}`);
    expect(audit.data).toMatchObject([{ action: 'dashboard.create', outcome: 'success' }]);
  });

  it('is refused beyond the limit of a project', async () => {
    const headers = await otherProject();
    const create = () => call('POST', '/api/dashboards', { name: 'one of many' }, headers);
    for (let made = 0; made < 100; made += 1) expect((await create()).status).toBe(201);
    const { status, body } = await create();
    expect([status, body.error]).toEqual([422, 'dashboard_limit_reached']);
  });

  it.each([
    ['without a name', 'POST', '/api/dashboards', {}, 422],
    ['with an empty name', 'POST', '/api/dashboards', { name: ' ' }, 422],
    ['with a long name', 'POST', '/api/dashboards', { name: 'n'.repeat(256) }, 422],
    ['without any in the order', 'PUT', '/api/dashboards/reorder', { dashboardIds: [] }, 422],
    ['with one twice in the order', 'PUT', '/api/dashboards/reorder', { dashboardIds: ['a', 'a'] }, 422],
    ['with an unknown one in the order', 'PUT', '/api/dashboards/reorder', { dashboardIds: ['none'] }, 400],
    ['that does not exist, for a new name', 'PATCH', '/api/dashboards/none', { name: 'n' }, 404],
  ])('is refused %s', async (_name, verb, path, body, status) => {
    const answer = await call(verb, path, body);
    expect(answer.status, answer.text).toBe(status);
  });

  it('of another project is not found, whatever is done with it', async () => {
    const { id } = await makeDashboard();
    const { id: graphId } = await makeGraph({ dashboardId: id });
    const headers = await otherProject();
    const asked = [
      await call('GET', `/api/dashboards/${id}`, undefined, headers),
      await call('PATCH', `/api/dashboards/${id}`, { name: 'n' }, headers),
      await call('DELETE', `/api/dashboards/${id}`, undefined, headers),
      await call('POST', '/api/graphs', { name: 'n', graph: {}, dashboardId: id }, headers),
      await call('GET', `/api/graphs/${graphId}`, undefined, headers),
      await call('PATCH', `/api/graphs/${graphId}`, { name: 'n' }, headers),
      await call('DELETE', `/api/graphs/${graphId}`, undefined, headers),
    ];
    expect(asked.map(({ status }) => status)).toEqual(asked.map(() => 404));
    expect((await call('GET', `/api/graphs?dashboardId=${id}`, undefined, headers)).body).toEqual([]);
    expect((await call('PUT', '/api/dashboards/reorder', { dashboardIds: [id] }, headers)).status).toBe(400);
    expect((await call('GET', `/api/dashboards/${id}`)).body.graphs).toHaveLength(1);
  });
});

describe('a graph', () => {
  it('keeps its definition as it was sent, digits included, alike over every surface', async () => {
    const graph = '{"series":[],"height":1.50,"id":12345678901234567890,"connected":true}';
    const { id: dashboardId } = await makeDashboard();
    const request = { name: 'Kept', graphJson: graph, dashboardId };
    const rows: number[] = [];
    await expectEverywhere(app.address, {
      name: 'create',
      headers: key(),
      rest: {
        verb: 'POST',
        path: '/api/graphs',
        body: `{"name":"Kept","graph":${graph},"dashboardId":"${dashboardId}"}`,
      },
      rpc: { method: graphs.createGraph, request },
      status: 201,
      check: (body) => {
        rows.push(body.gridRow);
        expect(body).toMatchObject({ dashboardId, filters: {}, gridColumn: 0, colSpan: 1, rowSpan: 1 });
        expect(body.graph.connected).toBe(true);
      },
    });
    expect(rows).toEqual(rows.map((_, index) => index));
    const { text } = await call('GET', `/api/graphs?dashboardId=${dashboardId}`);
    expect(text).toContain('12345678901234567890');
  });

  it('without a dashboard is listed with all others, the newest first', async () => {
    const { id } = await makeGraph();
    const { body } = await call('GET', '/api/graphs');
    expect(body[0]).toMatchObject({ id, dashboardId: null });
  });

  it('is changed in what is sent, moved to another dashboard, and deleted', async () => {
    const [{ id: from }, { id: to }] = [await makeDashboard(), await makeDashboard()];
    const { id, ...made } = await makeGraph({ dashboardId: from, filters: { 'metadata.labels': ['a'] } });
    await expectEverywhere(app.address, {
      name: 'update',
      headers: key(),
      rest: { verb: 'PATCH', path: `/api/graphs/${id}`, body: { name: 'Wide', colSpan: 2, dashboardId: to } },
      rpc: { method: graphs.updateGraph, request: { id, graph: { name: 'Wide', colSpan: 2, dashboardId: to } } },
      status: 200,
      check: (body) => {
        const { updatedAt: _, ...kept } = made;
        expect(body).toMatchObject({ ...kept, id, name: 'Wide', colSpan: 2, dashboardId: to });
      },
    });
    const audit = await act(app, 'GET', `/api/audit-log?targetId=${id}`);
    // The second request changed nothing.
    expect(audit.data.map((each: Body) => each.action)).toEqual(['graph.update', 'graph.create']);
    expect(audit.data[0].fields).toEqual(['dashboardId', 'name', 'colSpan']);
    const removed = await call('DELETE', `/api/graphs/${id}`);
    expect([removed.status, removed.body]).toEqual([200, { id, deleted: true }]);
    await expectEverywhere(app.address, {
      name: 'delete it again',
      headers: key(),
      rest: { verb: 'DELETE', path: `/api/graphs/${id}` },
      rpc: { method: graphs.deleteGraph, request: { id } },
      status: 404,
      code: 'graph_not_found',
    });
  });

  it.each([
    ['without a name', { graph: {} }, 422],
    ['without a definition', { name: 'n' }, 422],
    ['with a definition that is a list', { name: 'n', graph: [] }, 422],
    ['with a definition that is too large', { name: 'n', graph: { text: 'x'.repeat(16_384) } }, 422],
    ['with U+0000', { name: 'n', graph: { text: '\0' } }, 422],
    ['with a third column', { name: 'n', graph: {}, gridColumn: 2 }, 422],
    ['with three rows', { name: 'n', graph: {}, rowSpan: 3 }, 422],
    ['on an unknown dashboard', { name: 'n', graph: {}, dashboardId: 'none' }, 404],
  ])('is refused %s', async (_name, body, status) => {
    const answer = await call('POST', '/api/graphs', body);
    expect(answer.status, answer.text).toBe(status);
  });

  it('is refused beyond the limit of a project', async () => {
    const headers = await otherProject();
    const create = () => call('POST', '/api/graphs', { name: 'g', graph: {} }, headers);
    for (let made = 0; made < 300; made += 1) expect((await create()).status).toBe(201);
    const { status, body } = await create();
    expect([status, body.error]).toEqual([422, 'graph_limit_reached']);
  });
});
