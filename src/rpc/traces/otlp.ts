/** The services of OpenTelemetry. Spans become traces, log records calls or parts of spans; metrics are counted and dropped. */

import { create, type DescMethodUnary, type Message, toBinary } from '@bufbuild/protobuf';
import {
  ExportLogsServiceRequestSchema,
  LogsService,
} from '../../../gen/opentelemetry/proto/collector/logs/v1/logs_service_pb.js';
import { MetricsService } from '../../../gen/opentelemetry/proto/collector/metrics/v1/metrics_service_pb.js';
import {
  ExportTraceServiceRequestSchema,
  TraceService,
} from '../../../gen/opentelemetry/proto/collector/trace/v1/trace_service_pb.js';
import { BodyRule, Credential, ErrorFamily, PolicySchema, SizeClass } from '../../../gen/spandrel/v1/options_pb.js';
import type { RunCooperatively, Steps } from '../../domain/steps.ts';
import type { TraceLogs } from '../../domain/traces/logs/trace-logs.ts';
import { toBatchDraft } from '../../domain/traces/otlp/batch.ts';
import { countJsonRecords, readJsonExport, unknownMemberNotes } from '../../domain/traces/otlp/json-export.ts';
import { readJsonLogs } from '../../domain/traces/otlp/json-logs.ts';
import type { OtlpLogs } from '../../domain/traces/otlp/log-record.ts';
import type { OtlpExport } from '../../domain/traces/otlp/span.ts';
import type { Traces } from '../../domain/traces/traces.ts';
import { isObject, makeWellFormed } from '../../json/free-json.ts';
import type { LosslessJson } from '../../json/lossless-json.ts';
import type { CallIds, JsonFacts, Method, TolerantHandler, UnaryMethod } from '../method.ts';
import type { Sizes } from '../registry.ts';
import { projectOf } from '../scope.ts';
import { readWireExport } from './otlp-wire.ts';
import { readWireLogs } from './otlp-wire-logs.ts';

export type OtlpRpcDeps = {
  readonly traces: Pick<Traces, 'collectBatch'>;
  readonly logs: TraceLogs;
  /** The most spans, or log records, of one request. */
  readonly spansMax: number;
  readonly runCooperatively: RunCooperatively;
  /** Called with the spans of a request before they are stored. */
  readonly onSpans: (exported: OtlpExport, ids: CallIds) => void;
  /** Called with the number of discarded metrics. */
  readonly onDiscarded: (metrics: number) => void;
};

const SIGNALS = { traces: TraceService, logs: LogsService, metrics: MetricsService } as const;

/** OpenTelemetry's protos have no policy options, so the policies of its rpcs stand here. */
export function createOtlpMethods(deps: OtlpRpcDeps, { ingestBytesMax: sizeMaxBytes }: Sizes): Method[] {
  const methodOf = (signal: keyof typeof SIGNALS, handler: TolerantHandler): UnaryMethod => {
    const desc: DescMethodUnary = SIGNALS[signal].method.export;
    const path = `/${desc.parent.typeName}/${desc.name}`;
    const otlpPaths = otlpPathsOf(signal);
    return { kind: 'unary', desc, path, policy: OTLP_POLICY, isRead: false, sizeMaxBytes, handler, otlpPaths };
  };
  return [
    methodOf('traces', createTraceHandler(deps) as TolerantHandler),
    methodOf('logs', createLogsHandler(deps) as TolerantHandler),
    methodOf('metrics', createDiscardingHandler(deps)),
  ];
}

/** The policy of all rpcs. */
export const OTLP_POLICY = create(PolicySchema, {
  credential: Credential.PROJECT,
  permission: 'traces:create',
  errors: ErrorFamily.FLAT,
  successStatus: 200,
  body: BodyRule.TOLERANT,
  size: SizeClass.INGEST,
  trailingSlash: true,
  headerOnly: true,
});

/** Some exporters append the path of the signal to a URL that already has it. The preferred path is first. */
export function otlpPathsOf(signal: keyof typeof SIGNALS): readonly string[] {
  const path = `v1/${signal}`;
  const bases = ['api/otel/', '', 'api/', 'api/collector/', `api/otel/${path}/`, `${path}/`];
  // Where Langfuse's SDK sends its spans.
  if (signal === 'traces') bases.push('api/public/otel/');
  return bases.map((base) => `/${base}${path}`);
}

function createTraceHandler({
  traces,
  logs,
  spansMax,
  runCooperatively,
  onSpans,
}: OtlpRpcDeps): TolerantHandler<typeof TraceService.method.export> {
  const collect =
    (
      reading: Steps<OtlpExport>,
      notes: readonly string[] = [],
    ): ReturnType<TolerantHandler<typeof TraceService.method.export>['readMessage']> =>
    async (context) => {
      const at = { project: projectOf(context), nowMs: context.nowMs };
      const exported = await runCooperatively(reading);
      onSpans(exported, context.ids);
      const batch = await runCooperatively(toBatchDraft(exported));
      const { rejectedSpans, errorMessage: reasons } = await traces.collectBatch(batch, at);
      await logs.join(batch, at);
      const errorMessage = joinNotes(reasons, notes);
      if (rejectedSpans === 0 && errorMessage === '') return {};
      return { partialSuccess: { rejectedSpans: BigInt(rejectedSpans), errorMessage } };
    };
  return {
    spelling: 'values',
    // Only JSON over Connect arrives as a decoded message.
    readMessage: (request) => collect(readWireExport(toBinary(ExportTraceServiceRequestSchema, request), spansMax)),
    readBytes: (bytes) => collect(readWireExport(bytes, spansMax)),
    readJson: (body, facts) => {
      const sent = wellFormed(body, facts);
      return collect(readJsonExport(sent, facts, spansMax), unknownMemberNotes(sent, 'resourceSpans'));
    },
  };
}

type LogsHandler = TolerantHandler<typeof LogsService.method.export>;

function createLogsHandler({ logs, spansMax: recordsMax, runCooperatively }: OtlpRpcDeps): LogsHandler {
  const collect =
    (reading: Steps<OtlpLogs>, notes: readonly string[] = []): ReturnType<LogsHandler['readMessage']> =>
    async (context) => {
      const at = { project: projectOf(context), nowMs: context.nowMs };
      const { rejectedRecords, errorMessage: reasons } = await logs.collect(await runCooperatively(reading), at);
      const errorMessage = joinNotes(reasons, notes);
      if (rejectedRecords === 0 && errorMessage === '') return {};
      return { partialSuccess: { rejectedLogRecords: BigInt(rejectedRecords), errorMessage } };
    };
  return {
    spelling: 'values',
    readMessage: (request) => collect(readWireLogs(toBinary(ExportLogsServiceRequestSchema, request), recordsMax)),
    readBytes: (bytes) => collect(readWireLogs(bytes, recordsMax)),
    readJson: (body, facts) => {
      const sent = wellFormed(body, facts);
      return collect(readJsonLogs(sent, facts, recordsMax), unknownMemberNotes(sent, 'resourceLogs'));
    },
  };
}

function joinNotes(reasons: string, notes: readonly string[]): string {
  return [reasons, ...notes].filter((each) => each !== '').join('; ');
}

/** The lists of a request that lead to its metrics. */
const METRIC_LISTS = ['resourceMetrics', 'scopeMetrics', 'metrics'] as const;

function createDiscardingHandler({ onDiscarded }: OtlpRpcDeps): TolerantHandler {
  const discard = (records: number) => async () => {
    onDiscarded(records);
    return {};
  };
  return {
    spelling: 'values',
    readMessage: (request) => discard(countRecords([request], METRIC_LISTS)),
    readJson: (body) => discard(countJsonRecords(body, METRIC_LISTS)),
  };
}

function countRecords(messages: readonly Message[], [list, ...below]: readonly string[]): number {
  if (list === undefined) return messages.length;
  const itemsOf = (message: Message) => (message as unknown as Record<string, readonly Message[]>)[list] ?? [];
  return messages.reduce((count, message) => count + countRecords(itemsOf(message), below), 0);
}

function wellFormed(body: LosslessJson, { hasEscapes }: JsonFacts): LosslessJson {
  return hasEscapes && isObject(body) ? makeWellFormed(body) : body;
}
