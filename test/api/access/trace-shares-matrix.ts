/** Access to links to traces: traces:share for all of it. */

import { TraceShareService } from '../../../gen/spandrel/v1/trace_shares_pb.js';
import type { Matrix, Operation } from './matrix.ts';

const { createTraceShare, listTraceShares, revokeTraceShare } = TraceShareService.method;

const TABLE = `
row                    | PROJ | PA  | PN   | PQ   | PM   | PV   | PR   | PP   | SA  | SM   | SV   | SP
make a link            | 201  | 201 | 403d | 403d | 403d | 201  | 403d | 201  | 201 | 403d | 403d | 201
list the links         | 200  | 200 | 403d | 403d | 403d | 200  | 403d | 200  | 200 | 403d | 403d | 200
revoke a link          | 404  | 404 | 403d | 403d | 403d | 404  | 403d | 404  | 404 | 403d | 403d | 404
`;

const inP1 = (method: Operation['method'], ask: Operation['ask']): Operation => ({
  method,
  ask: async (cell) => ({
    headers: { 'x-project-id': cell.fixture.projects.P1 },
    ...(await ask(cell)),
  }),
  codes: { 404: 'trace_share_not_found' },
});

export const TRACE_SHARE_MATRIX: Matrix = {
  table: TABLE,
  alike: { PD: 'PV' },
  operations: {
    'make a link': inP1(createTraceShare, ({ fixture }) => ({ body: { traceId: fixture.traceId } })),
    'list the links': inP1(listTraceShares, () => ({})),
    'revoke a link': inP1(revokeTraceShare, () => ({ parameters: { trace_share_id: 'none' } })),
  },
};
