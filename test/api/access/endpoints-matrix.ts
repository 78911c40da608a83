/** Access to webhook endpoints, which only permissions at the organization give. */

import { EndpointService } from '../../../gen/spandrel/v1/endpoints_pb.js';
import { NOBODY_URL } from './access-fixture.ts';
import { type Matrix, makeFor, type Operation } from './matrix.ts';

const { method: methods } = EndpointService;

const TABLE = `
row                        | PROJ | PA  | PN   | PQ   | PM   | PV   | PR   | PP   | SA  | SM   | SV   | SP
list endpoints             | 401c | 200 | 403p | 403p | 403p | 403p | 403p | 403p | 200 | 403p | 403p | 403p
make an endpoint           | 401c | 201 | 403p | 403p | 403p | 403p | 403p | 403p | 201 | 403p | 403p | 403p
read an endpoint           | 401c | 200 | 403p | 403p | 403p | 403p | 403p | 403p | 200 | 403p | 403p | 403p
change an endpoint         | 401c | 200 | 403p | 403p | 403p | 403p | 403p | 403p | 200 | 403p | 403p | 403p
archive an endpoint        | 401c | 200 | 403p | 403p | 403p | 403p | 403p | 403p | 200 | 403p | 403p | 403p
roll the secret of one     | 401c | 200 | 403p | 403p | 403p | 403p | 403p | 403p | 200 | 403p | 403p | 403p
test an endpoint           | 401c | 200 | 403p | 403p | 403p | 403p | 403p | 403p | 200 | 403p | 403p | 403p
list attempts              | 401c | 200 | 403p | 403p | 403p | 403p | 403p | 403p | 200 | 403p | 403p | 403p
read a delivery            | 401c | 404 | 403p | 403p | 403p | 403p | 403p | 403p | 404 | 403p | 403p | 403p
redeliver                  | 401c | 404 | 403p | 403p | 403p | 403p | 403p | 403p | 404 | 403p | 403p | 403p
list dead letters          | 401c | 200 | 403p | 403p | 403p | 403p | 403p | 403p | 200 | 403p | 403p | 403p
replay events              | 401c | 200 | 403p | 403p | 403p | 403p | 403p | 403p | 200 | 403p | 403p | 403p
read a replay              | 401c | 404 | 403p | 403p | 403p | 403p | 403p | 403p | 404 | 403p | 403p | 403p
read the health of one     | 401c | 200 | 403p | 403p | 403p | 403p | 403p | 403p | 200 | 403p | 403p | 403p
list event types           | 401c | 200 | 403p | 403p | 403p | 403p | 403p | 403p | 200 | 403p | 403p | 403p
`;

const ENDPOINT = { url: NOBODY_URL, enabled_events: ['gateway.virtual_key.*'] };

/** An endpoint that gets no events, because none of its type occur. */
const endpoint = makeFor(async ({ fixture }) => {
  return String((await fixture.act('POST', '/api/webhooks/v1/endpoints', ENDPOINT)).data.id);
});

const onEndpoint = (method: Operation['method'], more: object = {}, codes: Operation['codes'] = {}): Operation => ({
  method,
  ask: async (cell) => {
    const { parameters = {}, ...question } = more as { readonly parameters?: Readonly<Record<string, string>> };
    return { parameters: { id: await endpoint(cell), ...parameters }, ...question };
  },
  codes,
});

const range = { body: { from: 0, to: 1 } };
const delivery = { parameters: { dispatch_id: 'webhookendpoint_0:0' } };
const replay = { parameters: { replay_id: 'replay_0' } };

export const ENDPOINT_MATRIX: Matrix = {
  table: TABLE,
  alike: { PD: 'PV' },
  operations: {
    'list endpoints': { method: methods.listEndpoints, ask: () => ({}) },
    'make an endpoint': { method: methods.createEndpoint, ask: () => ({ body: ENDPOINT }) },
    'read an endpoint': onEndpoint(methods.getEndpoint),
    'change an endpoint': onEndpoint(methods.updateEndpoint, { body: { max_in_flight: 1 } }),
    'archive an endpoint': onEndpoint(methods.archiveEndpoint),
    'roll the secret of one': onEndpoint(methods.rollEndpointSecret),
    'test an endpoint': onEndpoint(methods.testEndpoint),
    'list attempts': onEndpoint(methods.listDeliveries),
    'read a delivery': onEndpoint(methods.getDelivery, delivery, { 404: 'webhook_delivery_not_found' }),
    redeliver: onEndpoint(methods.redeliverDelivery, delivery, { 404: 'webhook_delivery_not_found' }),
    'list dead letters': onEndpoint(methods.listDeadLetters),
    'replay events': onEndpoint(methods.replayEvents, range),
    'read a replay': onEndpoint(methods.getReplay, replay, { 404: 'webhook_replay_not_found' }),
    'read the health of one': onEndpoint(methods.getEndpointHealth),
    'list event types': { method: methods.listEventTypes, ask: () => ({}) },
  },
};
