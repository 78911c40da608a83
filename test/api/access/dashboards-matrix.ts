/** Access to dashboards and graphs: analytics:view to read, :create, :update and :manage for the rest. */

import { DashboardService, GraphService } from '../../../gen/spandrel/v1/dashboards_pb.js';
import { TimeseriesService } from '../../../gen/spandrel/v1/timeseries_pb.js';
import { callRest } from '../../support/surfaces.ts';
import { type Matrix, makeFor, type Operation } from './matrix.ts';

const dashboards = DashboardService.method;
const graphs = GraphService.method;

const TABLE = `
row                    | PROJ | PA  | PN   | PQ   | PM   | PV   | PR   | PP   | SA  | SM   | SV   | SP
list the dashboards    | 200  | 200 | 403d | 403d | 403d | 200  | 200  | 200  | 200 | 403d | 403d | 200
read a dashboard       | 200  | 200 | 403d | 403d | 403d | 200  | 200  | 200  | 200 | 403d | 403d | 200
make a dashboard       | 201  | 201 | 403d | 403d | 403d | 201  | 403d | 201  | 201 | 403d | 403d | 201
rename a dashboard     | 200  | 200 | 403d | 403d | 403d | 200  | 403d | 200  | 200 | 403d | 403d | 200
reorder the dashboards | 400  | 400 | 403d | 403d | 403d | 400  | 403d | 400  | 400 | 403d | 403d | 400
delete a dashboard     | 200  | 200 | 403d | 403d | 403d | 200  | 403d | 200  | 200 | 403d | 403d | 200
list the graphs        | 200  | 200 | 403d | 403d | 403d | 200  | 200  | 200  | 200 | 403d | 403d | 200
read a graph           | 200  | 200 | 403d | 403d | 403d | 200  | 200  | 200  | 200 | 403d | 403d | 200
make a graph           | 201  | 201 | 403d | 403d | 403d | 201  | 403d | 201  | 201 | 403d | 403d | 201
change a graph         | 200  | 200 | 403d | 403d | 403d | 200  | 403d | 200  | 200 | 403d | 403d | 200
delete a graph         | 200  | 200 | 403d | 403d | 403d | 200  | 403d | 200  | 200 | 403d | 403d | 200
query a timeseries     | 200  | 200 | 403d | 403d | 403d | 200  | 200  | 200  | 200 | 403d | 403d | 200
`;

const maker = (path: string, body: object) =>
  makeFor(async ({ fixture }) => {
    const { address, projectKey } = fixture.app;
    const headers = { 'x-auth-token': projectKey };
    return String((await callRest(address, { verb: 'POST', path, body, headers })).body.id);
  });
const DASHBOARD = { name: 'Watched' };
const GRAPH = { name: 'Traces', graph: {} };
const dashboard = maker('/api/dashboards', DASHBOARD);
const graph = maker('/api/graphs', GRAPH);

const inP1 = (method: Operation['method'], ask: Operation['ask']): Operation => ({
  method,
  ask: async (cell) => ({
    headers: { 'x-project-id': cell.fixture.projects.P1 },
    ...(await ask(cell)),
  }),
  codes: { 400: 'dashboards_unknown' },
});

export const DASHBOARD_MATRIX: Matrix = {
  table: TABLE,
  alike: { PD: 'PV' },
  operations: {
    'list the dashboards': inP1(dashboards.listDashboards, () => ({})),
    'read a dashboard': inP1(dashboards.getDashboard, async (cell) => ({ parameters: { id: await dashboard(cell) } })),
    'make a dashboard': inP1(dashboards.createDashboard, () => ({ body: DASHBOARD })),
    'rename a dashboard': inP1(dashboards.renameDashboard, async (cell) => ({
      parameters: { id: await dashboard(cell) },
      body: { name: 'Renamed' },
    })),
    'reorder the dashboards': inP1(dashboards.reorderDashboards, () => ({ body: { dashboardIds: ['none'] } })),
    'delete a dashboard': inP1(dashboards.deleteDashboard, async (cell) => ({
      parameters: { id: await dashboard(cell) },
    })),
    'list the graphs': inP1(graphs.listGraphs, () => ({})),
    'read a graph': inP1(graphs.getGraph, async (cell) => ({ parameters: { id: await graph(cell) } })),
    'make a graph': inP1(graphs.createGraph, () => ({ body: GRAPH })),
    'change a graph': inP1(graphs.updateGraph, async (cell) => ({
      parameters: { id: await graph(cell) },
      body: { colSpan: 2 },
    })),
    'delete a graph': inP1(graphs.deleteGraph, async (cell) => ({ parameters: { id: await graph(cell) } })),
    'query a timeseries': inP1(TimeseriesService.method.queryTimeseries, () => ({
      body: {
        startDate: '2026-03-02T00:00:00Z',
        endDate: '2026-03-03T00:00:00Z',
        series: [{ metric: 'metadata.trace_id', aggregation: 'cardinality' }],
      },
    })),
  },
};
