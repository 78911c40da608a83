/** A collector of OpenTelemetry for OTLP over HTTP as JSON, and the variables that point a server to one. */

import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

type Value = { readonly stringValue?: string; readonly intValue?: number | string };

export type CollectedSpan = {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: { readonly [name: string]: string | number | undefined };
  readonly status: { readonly code?: number };
  /** Attributes of the process. */
  readonly resource: { readonly [name: string]: string | number | undefined };
};

export type Collector = Awaited<ReturnType<typeof startCollector>>;

/** It answers once `released` is resolved. */
export async function startCollector(released: Promise<void> = Promise.resolve()) {
  const spans: CollectedSpan[] = [];
  const texts: string[] = [];
  const headers: IncomingHttpHeaders[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', async () => {
      const text = Buffer.concat(chunks).toString();
      texts.push(text);
      headers.push(request.headers);
      spans.push(...readSpans(JSON.parse(text)));
      await released;
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    /** All that was received, as it was sent. */
    texts,
    headers,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

// biome-ignore lint/suspicious/noExplicitAny: the JSON of OTLP.
function readSpans(body: any): CollectedSpan[] {
  const resources: readonly (typeof body)[] = body.resourceSpans;
  return resources.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap(({ spans }: typeof body) =>
      spans.map((span: typeof body) => ({
        ...span,
        attributes: valuesOf(span.attributes),
        resource: valuesOf(resource.attributes),
      })),
    ),
  );
}

function valuesOf(attributes: readonly { readonly key: string; readonly value: Value }[]) {
  return Object.fromEntries(
    attributes.map(({ key, value }) => [key, value.stringValue ?? (value.intValue && Number(value.intValue))]),
  );
}

/** The SDK reads its variables from the process itself. Returns what puts them back. */
export function setVariables(variables: { readonly [name: string]: string }): () => void {
  const before = Object.entries(process.env).filter(([name]) => name.startsWith('OTEL_'));
  const clear = () => {
    for (const name of Object.keys(process.env)) if (name.startsWith('OTEL_')) delete process.env[name];
  };
  clear();
  Object.assign(process.env, variables);
  return () => {
    clear();
    Object.assign(process.env, Object.fromEntries(before));
  };
}
