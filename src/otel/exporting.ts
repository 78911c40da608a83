/**
 * The SDK of OpenTelemetry, which reads its settings (OTEL_*) from the environment itself. Its queue is bounded, and a
 * collector that is away costs the spans that have no room in it.
 */

import type { Span, Tracer } from '@opentelemetry/api';
import { defaultResource, detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import {
  BasicTracerProvider,
  BatchSpanProcessor,
  type IdGenerator,
  RandomIdGenerator,
  type SpanExporter,
} from '@opentelemetry/sdk-trace-base';
import type { OtlpProtocol } from '../config/otel.ts';

export type ExportDeps = {
  readonly protocol: OtlpProtocol;
  /** Sent with each export. */
  readonly headers: Readonly<Record<string, string>>;
  /** What is said of the process, beside what the environment says. */
  readonly resource: Readonly<Record<string, string>>;
  readonly version: string;
  readonly count: (result: 'recorded' | 'exported' | 'failed', spans: number) => void;
  readonly log: { info(fields: object, message: string): void; warn(fields: object, message: string): void };
};

type Ids = { readonly traceId: string; readonly spanId: string };

/** How long a stop waits for the last spans. */
const STOP_MAX_MS = 2_000;
const MESSAGE_CHARACTERS_MAX = 200;
const SUCCESS = 0;

export async function startExporting({ protocol, headers, resource, version, count, log }: ExportDeps) {
  const exporter = watchExports(await createExporter(protocol, headers), { count, log });
  const ids = createIds();
  const own = { ...resource, 'service.name': 'spandrel', 'service.version': version };
  const provider = new BasicTracerProvider({
    idGenerator: ids.generator,
    // What the environment says of the service comes last.
    resource: defaultResource()
      .merge(resourceFromAttributes(own))
      .merge(detectResources({ detectors: [envDetector] })),
    spanProcessors: [new BatchSpanProcessor(exporter)],
  });
  const tracer = provider.getTracer('spandrel', version);
  return {
    /** Starts a span, with ids that were given to it before. */
    start(given: Ids | null, begin: (tracer: Tracer) => Span): Span {
      const span = ids.using(given, () => begin(tracer));
      if (span.isRecording()) count('recorded', 1);
      return span;
    },
    async stop(): Promise<void> {
      const { promise, resolve } = Promise.withResolvers<void>();
      const timer = setTimeout(resolve, STOP_MAX_MS);
      // What cannot be sent any more is counted as failed.
      await Promise.race([provider.shutdown().catch(() => undefined), promise]);
      clearTimeout(timer);
    },
  };
}

/** Loads the exporter of one protocol alone. */
async function createExporter(protocol: OtlpProtocol, headers: ExportDeps['headers']): Promise<SpanExporter> {
  switch (protocol) {
    case 'http/protobuf': {
      const { OTLPTraceExporter } = await import('@opentelemetry/exporter-trace-otlp-proto');
      return new OTLPTraceExporter({ headers });
    }
    case 'http/json': {
      const { OTLPTraceExporter } = await import('@opentelemetry/exporter-trace-otlp-http');
      return new OTLPTraceExporter({ headers });
    }
    case 'grpc': {
      const [{ OTLPTraceExporter }, { Metadata }] = await Promise.all([
        import('@opentelemetry/exporter-trace-otlp-grpc'),
        import('@grpc/grpc-js'),
      ]);
      const metadata = new Metadata();
      for (const [name, value] of Object.entries(headers)) metadata.set(name, value);
      return new OTLPTraceExporter({ metadata });
    }
  }
}

/** Counts what was sent, and logs when sending begins to fail, and when it works again. */
function watchExports(exporter: SpanExporter, { count, log }: Pick<ExportDeps, 'count' | 'log'>): SpanExporter {
  let isFailing = false;
  return {
    export(spans, done) {
      exporter.export(spans, (result) => {
        const isSent = result.code === SUCCESS;
        count(isSent ? 'exported' : 'failed', spans.length);
        if (isSent && isFailing) log.info({}, 'spans of the server are exported again');
        if (!isSent && !isFailing) {
          const reason = result.error?.message.slice(0, MESSAGE_CHARACTERS_MAX) ?? null;
          log.warn({ reason }, 'spans of the server cannot be exported');
        }
        isFailing = !isSent;
        done(result);
      });
    },
    shutdown: () => exporter.shutdown(),
    forceFlush: async () => exporter.forceFlush?.(),
  };
}

/** Requests have ids before they have spans: their answers name them. */
function createIds(): { readonly generator: IdGenerator; using<T>(given: Ids | null, work: () => T): T } {
  const random = new RandomIdGenerator();
  let next: Ids | null = null;
  return {
    generator: {
      generateTraceId: () => next?.traceId ?? random.generateTraceId(),
      generateSpanId: () => next?.spanId ?? random.generateSpanId(),
    },
    using(given, work) {
      next = given;
      try {
        return work();
      } finally {
        next = null;
      }
    },
  };
}
