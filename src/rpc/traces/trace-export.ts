/** Exporting traces: message <-> domain values. */

import type { MessageInitShape } from '@bufbuild/protobuf';
import type { ExportTracesResponseSchema, TraceService } from '../../../gen/spandrel/v1/traces_pb.js';
import type { ExportMessage, TraceExports } from '../../domain/traces/export/trace-export.ts';
import type { TraceSearches } from '../../domain/traces/search/trace-search.ts';
import type { Implementation } from '../method.ts';
import { evaluationMessage, messagesOfSpans, type PlatformUrl } from './trace-message.ts';
import { asksForSummary, callOf, offsetProblems, type Shown, showView, toSearch } from './trace-search.ts';

type TraceExportRpcDeps = {
  readonly exports: TraceExports;
  readonly searches: Pick<TraceSearches, 'problems'>;
  readonly platformUrl: PlatformUrl;
};

export function createTraceExportRpc({
  exports,
  searches,
  platformUrl,
}: TraceExportRpcDeps): Pick<Implementation<typeof TraceService>, 'exportTraces'> {
  return {
    exportTraces: {
      check: (request) => [...offsetProblems(request), ...searches.problems(toSearch(request))],
      open: async (request, context) => {
        const call = callOf(context);
        const isSummary = asksForSummary(request);
        const search = toSearch(request);
        const parts = await exports.open({ ...search, includeSpans: search.includeSpans && !isSummary }, call);
        return showParts(parts, { isSummary, project: call.project, platformUrl });
      },
    },
  };
}

type Answer = MessageInitShape<typeof ExportTracesResponseSchema>;

async function* showParts(parts: AsyncIterable<ExportMessage>, shown: Shown): AsyncGenerator<Answer, void> {
  for await (const part of parts) {
    switch (part.kind) {
      case 'trace':
        yield { part: { case: 'row', value: { view: await showView(part.view, shown) } } };
        break;
      case 'evaluations':
        yield { part: { case: 'more', value: { evaluations: part.evaluations.map(evaluationMessage) } } };
        break;
      case 'spans':
        yield { part: { case: 'more', value: { spans: await messagesOfSpans(part.spans, part.traceId) } } };
        break;
    }
  }
}
