/** Access to triggers: triggers:view to read, triggers:create, triggers:update and triggers:manage for the rest. */

import { TriggerService } from '../../../gen/spandrel/v1/triggers_pb.js';
import { callRest } from '../../support/surfaces.ts';
import { type Matrix, makeFor, type Operation } from './matrix.ts';

const { listTriggers, getTrigger, listTriggerHistory, createTrigger, updateTrigger, deleteTrigger } =
  TriggerService.method;

const TABLE = `
row                    | PROJ | PA  | PN   | PQ   | PM   | PV   | PR   | PP   | SA  | SM   | SV   | SP
list the triggers      | 200  | 200 | 403d | 403d | 403d | 200  | 403d | 200  | 200 | 403d | 403d | 200
read a trigger         | 200  | 200 | 403d | 403d | 403d | 200  | 403d | 200  | 200 | 403d | 403d | 200
read its history       | 200  | 200 | 403d | 403d | 403d | 200  | 403d | 200  | 200 | 403d | 403d | 200
make a trigger         | 201  | 201 | 403d | 403d | 403d | 201  | 403d | 201  | 201 | 403d | 403d | 201
change a trigger       | 200  | 200 | 403d | 403d | 403d | 200  | 403d | 200  | 200 | 403d | 403d | 200
delete a trigger       | 200  | 200 | 403d | 403d | 403d | 200  | 403d | 200  | 200 | 403d | 403d | 200
`;

const DRAFT = { name: 'Errors', filters: { 'traces.error': ['true'] }, action: 'SEND_WEBHOOK' };

const trigger = makeFor(async ({ fixture }) => {
  const { address, projectKey } = fixture.app;
  const headers = { 'x-auth-token': projectKey };
  return String((await callRest(address, { verb: 'POST', path: '/api/triggers', body: DRAFT, headers })).body.id);
});

const onTrigger = (method: Operation['method'], body?: { readonly [name: string]: string }): Operation => ({
  method,
  ask: async (cell) => ({
    headers: { 'x-project-id': cell.fixture.projects.P1 },
    parameters: { id: await trigger(cell) },
    ...(body === undefined ? {} : { body }),
  }),
});

const inP1 = (method: Operation['method'], body?: typeof DRAFT): Operation => ({
  method,
  ask: ({ fixture }) => ({
    headers: { 'x-project-id': fixture.projects.P1 },
    ...(body === undefined ? {} : { body }),
  }),
});

export const TRIGGER_MATRIX: Matrix = {
  table: TABLE,
  alike: { PD: 'PV' },
  operations: {
    'list the triggers': inP1(listTriggers),
    'read a trigger': onTrigger(getTrigger),
    'read its history': onTrigger(listTriggerHistory),
    'make a trigger': inP1(createTrigger, DRAFT),
    'change a trigger': onTrigger(updateTrigger, { name: 'Other' }),
    'delete a trigger': onTrigger(deleteTrigger),
  },
};
