/** TraceService: message <-> domain values. */

import { TraceFormat, type TraceService } from '../../../gen/spandrel/v1/traces_pb.js';
import type { Analytics } from '../../domain/analytics/analytics.ts';
import { Fault } from '../../domain/fault.ts';
import type { ProjectSettingsService } from '../../domain/organization/project-settings.ts';
import type { RunCooperatively } from '../../domain/steps.ts';
import type { TraceDraft } from '../../domain/traces/collector/collector-draft.ts';
import { toTraceDraft } from '../../domain/traces/collector/collector-json.ts';
import type { TraceExports } from '../../domain/traces/export/trace-export.ts';
import type { TraceLogs } from '../../domain/traces/logs/trace-logs.ts';
import type { TraceFacets } from '../../domain/traces/search/trace-facets.ts';
import type { TraceSearches } from '../../domain/traces/search/trace-search.ts';
import type { TraceTails } from '../../domain/traces/tail/trace-tail.ts';
import type { TraceChanges } from '../../domain/traces/trace-changes.ts';
import type { Traces } from '../../domain/traces/traces.ts';
import { NUMBER_TEXTS_REASON, tooManyNumberTexts } from '../../json/json-text.ts';
import { TOO_WIDE_REASON } from '../../json/wide-json.ts';
import { createAnalyticsRpc } from '../analytics/analytics.ts';
import type { Implementation, Run } from '../method.ts';
import { createProjectSettingsRpc } from '../organization/project-settings.ts';
import { projectOf } from '../scope.ts';
import { readCollectRequest } from './collect-request.ts';
import { createTraceExportRpc } from './trace-export.ts';
import { createTraceFacetsRpc } from './trace-facets.ts';
import { digestMessage, type PlatformUrl, traceWithSpans } from './trace-message.ts';
import { createTraceSearchRpc, maxBytesOf } from './trace-search.ts';
import { createTraceTailRpc } from './trace-tail.ts';

/** The collector's messages by the problem of the body. */
const UNREADABLE_MESSAGES: ReadonlyMap<unknown, string> = new Map([
  ['nested too deep', 'Validation error: body nested deeper than 128 levels'],
  ['not a JSON media type', 'Invalid body, expecting json; send the header Content-Type: application/json'],
]);

type TraceRpcDeps = {
  readonly traces: Traces;
  readonly logs: Pick<TraceLogs, 'join'>;
  readonly changes: TraceChanges;
  readonly searches: TraceSearches;
  readonly facets: TraceFacets;
  readonly analytics: Analytics;
  readonly exports: TraceExports;
  readonly tails: TraceTails;
  readonly settings: ProjectSettingsService;
  readonly platformUrl: PlatformUrl;
  readonly runCooperatively: RunCooperatively;
};

export function createTraceRpc(deps: TraceRpcDeps): Implementation<typeof TraceService> {
  const { traces, logs, changes, searches, facets, analytics, settings, platformUrl, runCooperatively } = deps;
  const collectDraft = (
    read: () => TraceDraft | Promise<TraceDraft>,
  ): Run<(typeof TraceService)['method']['collectTrace']> => {
    return async (context) => {
      const draft = await read();
      const at = { project: projectOf(context), nowMs: context.nowMs };
      const partialSuccess = await traces.collect(draft, at);
      const { traceId } = draft;
      if (typeof traceId === 'string') await logs.join({ traces: [{ ...draft, traceId }] }, at);
      return { partialSuccess };
    };
  };
  return {
    collectTrace: {
      spelling: 'values',
      anyMediaType: true,
      readMessage: (request) =>
        collectDraft(() => runCooperatively(readCollectRequest(request, () => rewordUnreadable(tooManyNumberTexts())))),
      readJson: (body, facts) => collectDraft(() => toTraceDraft(body, facts)),
      reword: rewordUnreadable,
    },
    getTrace: {
      async handle(request, context) {
        const { traceId, llmMode, pageSize: spansLimit = null, pageToken: spansCursor, spanId } = request;
        const { countResponseBytes, nowMs } = context;
        const project = projectOf(context);
        if (request.format === TraceFormat.DIGEST || llmMode === 'true' || llmMode === '1') {
          const digest = await traces.digest(project, { traceId, countResponseBytes }, nowMs);
          const url = platformUrl(project, digest.record.traceId);
          return { view: { case: 'digest', value: digestMessage(digest, digest.text, url) } };
        }
        const asked = { traceId, spansLimit, spansCursor, spanId, countResponseBytes, ...maxBytesOf(context) };
        const view = await traces.get(project, asked, nowMs);
        return { view: { case: 'trace', value: await traceWithSpans(view, project, platformUrl) } };
      },
    },
    updateTraceMetadata: {
      check: ({ metadataJson }) => (metadataJson === undefined ? [] : changes.patchProblems(metadataJson)),
      handle: async ({ traceId, metadataJson = '' }, context) =>
        await changes.patchMetadata(projectOf(context), { traceId, metadataJson }, context.nowMs),
    },
    deleteTrace: {
      handle: async ({ traceId }, context) => {
        await changes.remove(projectOf(context), traceId, context.nowMs);
        return {};
      },
    },
    ...createTraceSearchRpc(searches, platformUrl),
    ...createTraceFacetsRpc(facets),
    ...createAnalyticsRpc(analytics),
    ...createTraceExportRpc(deps),
    ...createTraceTailRpc(deps),
    ...createProjectSettingsRpc(settings),
  };
}

/** The collector route has its own wording for an unreadable body, in `error` and `message`. */
function rewordUnreadable(fault: Fault): Fault {
  if (fault.code === 'validation_error') {
    const isWide = fault.message.includes(TOO_WIDE_REASON);
    const message = `Validation error: body ${isWide ? TOO_WIDE_REASON : NUMBER_TEXTS_REASON}`;
    return new Fault('validation_error', message, { kind: 'bad_request', flatError: message });
  }
  if (fault.code !== 'malformed_request') return fault;
  const message = UNREADABLE_MESSAGES.get(fault.meta.detail) ?? 'Invalid body, expecting json';
  return new Fault('malformed_request', message, { flatError: message });
}
