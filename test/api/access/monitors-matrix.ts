/** Access to monitors: evaluations:view to read, evaluations:manage for the rest. */

import { MonitorService } from '../../../gen/spandrel/v1/monitors_pb.js';
import { callRest } from '../../support/surfaces.ts';
import type { Fixture } from './access-fixture.ts';
import { type Matrix, makeFor, type Operation } from './matrix.ts';

const { listMonitors, getMonitorBacklog, getMonitor, createMonitor, updateMonitor, toggleMonitor, deleteMonitor } =
  MonitorService.method;

const TABLE = `
row                    | PROJ | PA  | PN   | PQ   | PM   | PV   | PR   | PP   | SA  | SM   | SV   | SP
list the monitors      | 200  | 200 | 403d | 403d | 403d | 200  | 200  | 200  | 200 | 403d | 403d | 200
count their backlog    | 200  | 200 | 403d | 403d | 403d | 200  | 200  | 200  | 200 | 403d | 403d | 200
read a monitor         | 200  | 200 | 403d | 403d | 403d | 200  | 200  | 200  | 200 | 403d | 403d | 200
make a monitor         | 201  | 201 | 403d | 403d | 403d | 201  | 403d | 201  | 201 | 403d | 403d | 201
change a monitor       | 200  | 200 | 403d | 403d | 403d | 200  | 403d | 200  | 200 | 403d | 403d | 200
toggle a monitor       | 200  | 200 | 403d | 403d | 403d | 200  | 403d | 200  | 200 | 403d | 403d | 200
delete a monitor       | 200  | 200 | 403d | 403d | 403d | 200  | 403d | 200  | 200 | 403d | 403d | 200
`;

const draft = ({ evaluators }: Fixture) => ({ name: 'Watch', evaluatorId: evaluators.P1 });

const monitor = makeFor(async ({ fixture }) => {
  const { address, projectKey } = fixture.app;
  const headers = { 'x-auth-token': projectKey };
  return String(
    (await callRest(address, { verb: 'POST', path: '/api/monitors', body: draft(fixture), headers })).body.id,
  );
});

const onMonitor = (method: Operation['method'], body?: { readonly [name: string]: boolean | number }): Operation => ({
  method,
  ask: async (cell) => ({
    headers: { 'x-project-id': cell.fixture.projects.P1 },
    parameters: { id_or_slug: await monitor(cell) },
    ...(body === undefined ? {} : { body }),
  }),
});

export const MONITOR_MATRIX: Matrix = {
  table: TABLE,
  alike: { PD: 'PV' },
  operations: {
    'list the monitors': {
      method: listMonitors,
      ask: ({ fixture }) => ({ headers: { 'x-project-id': fixture.projects.P1 } }),
    },
    'count their backlog': {
      method: getMonitorBacklog,
      ask: ({ fixture }) => ({ headers: { 'x-project-id': fixture.projects.P1 } }),
    },
    'read a monitor': onMonitor(getMonitor),
    'make a monitor': {
      method: createMonitor,
      ask: ({ fixture }) => ({ headers: { 'x-project-id': fixture.projects.P1 }, body: draft(fixture) }),
    },
    'change a monitor': onMonitor(updateMonitor, { sample: 0.5 }),
    'toggle a monitor': onMonitor(toggleMonitor, { enabled: false }),
    'delete a monitor': onMonitor(deleteMonitor),
  },
};
