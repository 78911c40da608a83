/** Access to deletions of many traces: project:manage for all of it. */

import { TraceDeletionService } from '../../../gen/spandrel/v1/trace_deletions_pb.js';
import type { Matrix, Operation } from './matrix.ts';

const { previewTraceDeletion, createTraceDeletion, getTraceDeletion, listTraceDeletions, cancelTraceDeletion } =
  TraceDeletionService.method;

const TABLE = `
row                    | PROJ | PA  | PN   | PQ   | PM   | PV   | PR   | PP   | SA  | SM   | SV   | SP
count what would go    | 200  | 200 | 403d | 403d | 403d | 403d | 403d | 403d | 200 | 403d | 403d | 200
begin a deletion       | 201  | 201 | 403d | 403d | 403d | 403d | 403d | 403d | 201 | 403d | 403d | 201
read a deletion        | 404  | 404 | 403d | 403d | 403d | 403d | 403d | 403d | 404 | 403d | 403d | 404
list the deletions     | 200  | 200 | 403d | 403d | 403d | 403d | 403d | 403d | 200 | 403d | 403d | 200
cancel a deletion      | 404  | 404 | 403d | 403d | 403d | 403d | 403d | 403d | 404 | 403d | 403d | 404
`;

// The trace is missing, so each deletion ends at once.
const ofNone = { body: { traceIds: ['none'] } };
const unknown = { parameters: { trace_deletion_id: 'none' } };

const inP1 = (method: Operation['method'], question: object = {}): Operation => ({
  method,
  ask: ({ fixture }) => ({ headers: { 'x-project-id': fixture.projects.P1 }, ...question }),
  codes: { 404: 'trace_deletion_not_found' },
});

export const TRACE_DELETION_MATRIX: Matrix = {
  table: TABLE,
  alike: { PD: 'PV' },
  operations: {
    'count what would go': inP1(previewTraceDeletion, ofNone),
    'begin a deletion': inP1(createTraceDeletion, ofNone),
    'read a deletion': inP1(getTraceDeletion, unknown),
    'list the deletions': inP1(listTraceDeletions),
    'cancel a deletion': inP1(cancelTraceDeletion, unknown),
  },
};
