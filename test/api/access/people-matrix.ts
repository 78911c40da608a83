/** Access to what people say about traces: feedback of users, annotations of reviewers, their scores and queues. */

import { AnnotationQueueService } from '../../../gen/spandrel/v1/annotation_queues_pb.js';
import { AnnotationScoreService, AnnotationService } from '../../../gen/spandrel/v1/annotations_pb.js';
import { FeedbackService } from '../../../gen/spandrel/v1/feedback_pb.js';
import { hex } from '../../support/fixtures.ts';
import type { Matrix, Operation } from './matrix.ts';

const { trackEvent } = FeedbackService.method;
const annotations = AnnotationService.method;
const scores = AnnotationScoreService.method;
const queues = AnnotationQueueService.method;

const TABLE = `
row                    | PROJ | PA  | PN   | PQ   | PM   | PV   | PR   | PP   | SA  | SM   | SV   | SP
track an event         | 200  | 200 | 403d | 403d | 403d | 200  | 403d | 200  | 200 | 403d | 403d | 200
list the annotations   | 200  | 200 | 403d | 403d | 403d | 200  | 200  | 200  | 200 | 403d | 403d | 200
list those of a trace  | 200  | 200 | 403d | 403d | 403d | 200  | 200  | 200  | 200 | 403d | 403d | 200
annotate a trace       | 200  | 200 | 403d | 403d | 403d | 200  | 403d | 200  | 200 | 403d | 403d | 200
read an annotation     | 404  | 404 | 403d | 403d | 403d | 404  | 404  | 404  | 404 | 403d | 403d | 404
change an annotation   | 404  | 404 | 403d | 403d | 403d | 404  | 403d | 404  | 404 | 403d | 403d | 404
delete an annotation   | 404  | 404 | 403d | 403d | 403d | 404  | 403d | 404  | 404 | 403d | 403d | 404
list the scores        | 200  | 200 | 403d | 403d | 403d | 200  | 200  | 200  | 200 | 403d | 403d | 200
define a score         | 200  | 200 | 403d | 403d | 403d | 200  | 403d | 200  | 200 | 403d | 403d | 200
change a score         | 404s | 404s | 403d | 403d | 403d | 404s | 403d | 404s | 404s | 403d | 403d | 404s
delete a score         | 404s | 404s | 403d | 403d | 403d | 404s | 403d | 404s | 404s | 403d | 403d | 404s
list the queues        | 200  | 200 | 403d | 403d | 403d | 200  | 200  | 200  | 200 | 403d | 403d | 200
make a queue           | 200  | 200 | 403d | 403d | 403d | 200  | 403d | 200  | 200 | 403d | 403d | 200
read a queue           | 404q | 404q | 403d | 403d | 403d | 404q | 404q | 404q | 404q | 403d | 403d | 404q
change a queue         | 404q | 404q | 403d | 403d | 403d | 404q | 403d | 404q | 404q | 403d | 403d | 404q
delete a queue         | 404q | 404q | 403d | 403d | 403d | 404q | 403d | 404q | 404q | 403d | 403d | 404q
add traces to a queue  | 404q | 404q | 403d | 403d | 403d | 404q | 403d | 404q | 404q | 403d | 403d | 404q
claim an item          | 404q | 404q | 403d | 403d | 403d | 404q | 403d | 404q | 404q | 403d | 403d | 404q
complete an item       | 404i | 404i | 403d | 403d | 403d | 404i | 403d | 404i | 404i | 403d | 403d | 404i
release an item        | 404i | 404i | 403d | 403d | 403d | 404i | 403d | 404i | 404i | 403d | 403d | 404i
`;

const inP1 = (method: Operation['method'], ask: Operation['ask'] = () => ({})): Operation => ({
  method,
  ask: async (cell) => ({ headers: { 'x-project-id': cell.fixture.projects.P1 }, ...(await ask(cell)) }),
  codes: {
    404: 'annotation_not_found',
    s: 'annotation_score_not_found',
    q: 'annotation_queue_not_found',
    i: 'annotation_queue_item_not_found',
  },
});

const NONE = { parameters: { id: 'none', item_id: 'none' } };
const ofNone = (method: Operation['method'], sent: object = {}) => inP1(method, () => ({ ...NONE, ...sent }));
const named = (more: object = {}) => ({ body: { name: hex(12), ...more } });

export const PEOPLE_MATRIX: Matrix = {
  table: TABLE,
  alike: { PD: 'PV' },
  operations: {
    'track an event': inP1(trackEvent, () => {
      const [traceId, eventType] = [hex(32), 'opened'];
      return {
        body: { trace_id: traceId, event_type: eventType, metrics: {} },
        message: { traceId, eventType, metricsJson: '{}' },
      };
    }),
    'list the annotations': inP1(annotations.listAnnotations),
    'list those of a trace': inP1(annotations.listTraceAnnotations, ({ fixture }) => ({
      parameters: { trace_id: fixture.traceId },
    })),
    'annotate a trace': inP1(annotations.createAnnotation, ({ fixture }) => ({
      parameters: { trace_id: fixture.traceId },
      body: { comment: 'said' },
    })),
    'read an annotation': ofNone(annotations.getAnnotation),
    'change an annotation': ofNone(annotations.updateAnnotation, {
      body: { comment: 'said' },
      message: { id: 'none', annotation: { comment: 'said' } },
    }),
    'delete an annotation': ofNone(annotations.deleteAnnotation),
    'list the scores': inP1(scores.listAnnotationScores),
    'define a score': inP1(scores.createAnnotationScore, () => {
      const { body } = named({ dataType: 'TEXT' });
      return { body, message: { ...body, dataType: 4 } };
    }),
    'change a score': ofNone(scores.updateAnnotationScore, {
      body: { active: false },
      message: { id: 'none', score: { active: false } },
    }),
    'delete a score': ofNone(scores.deleteAnnotationScore),
    'list the queues': inP1(queues.listAnnotationQueues),
    'make a queue': inP1(queues.createAnnotationQueue, () => named()),
    'read a queue': ofNone(queues.getAnnotationQueue),
    'change a queue': ofNone(queues.updateAnnotationQueue, {
      body: { description: 'x' },
      message: { id: 'none', queue: { description: 'x' } },
    }),
    'delete a queue': ofNone(queues.deleteAnnotationQueue),
    'add traces to a queue': ofNone(queues.addAnnotationQueueItems, { body: { traceIds: ['x'] } }),
    'claim an item': ofNone(queues.claimAnnotationQueueItem, { body: {} }),
    'complete an item': ofNone(queues.completeAnnotationQueueItem, { body: {} }),
    'release an item': ofNone(queues.releaseAnnotationQueueItem, { body: {} }),
  },
};
