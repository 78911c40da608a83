/** Updates of annotations, scores, queues, saved views and graphs, each with a mask. */

import { AnnotationQueueService } from '../../../gen/spandrel/v1/annotation_queues_pb.js';
import { AnnotationScoreService, AnnotationService } from '../../../gen/spandrel/v1/annotations_pb.js';
import { GraphService } from '../../../gen/spandrel/v1/dashboards_pb.js';
import { SavedViewService } from '../../../gen/spandrel/v1/saved_views_pb.js';
import type { TestApp } from '../../support/app.ts';
import { hex, llmTrace } from '../../support/fixtures.ts';
import { type Body, callRest } from '../../support/surfaces.ts';

export function peopleCases(app: () => TestApp) {
  async function post(path: string, body: object): Promise<Body> {
    const headers = { 'x-auth-token': app().projectKey };
    return (await callRest(app().address, { verb: 'POST', path, headers, body })).body;
  }
  return [
    {
      method: SavedViewService.method.updateSavedView,
      async request() {
        const { id } = await post('/api/saved-views', { name: hex(16), search: '', visibility: 'PROJECT' });
        return { savedViewId: id, savedView: { name: 'renamed', search: 'sort=cost' } };
      },
      paths: ['name', 'search'],
      omits: ['search', 'search'],
    },
    {
      method: GraphService.method.updateGraph,
      async request() {
        const { id } = await post('/api/graphs', { name: hex(16), graph: {} });
        return { id, graph: { name: 'renamed', colSpan: 2 } };
      },
      paths: ['name', 'col_span'],
      omits: ['col_span', 'colSpan'],
    },
    {
      method: AnnotationService.method.updateAnnotation,
      async request() {
        const trace = llmTrace(Date.now());
        await post('/api/collector', trace);
        const { id } = await post(`/api/annotations/trace/${trace.trace_id}`, { comment: 'said' });
        return { id, annotation: { comment: 'other', scoreOptionsJson: '{}' } };
      },
      paths: ['comment', 'score_options_json'],
      omits: ['score_options_json', 'scoreOptions'],
    },
    {
      method: AnnotationScoreService.method.updateAnnotationScore,
      async request() {
        const { id } = await post('/api/annotation-scores', { name: hex(12), dataType: 'NUMERIC' });
        return { id, score: { name: hex(12), active: false } };
      },
      paths: ['name', 'active'],
      omits: ['active', 'active'],
    },
    {
      method: AnnotationQueueService.method.updateAnnotationQueue,
      async request() {
        const { id } = await post('/api/annotation-queues', { name: hex(12) });
        return { id, queue: { name: hex(12), description: 'd' } };
      },
      paths: ['name', 'description'],
      omits: ['description', 'description'],
    },
  ] as const;
}
