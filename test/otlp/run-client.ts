/** Runs a published client in a process of its own, as its users do. */

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

export const CLIENTS = {
  'opentelemetry-json': ['opentelemetry.ts', 'http'],
  'opentelemetry-protobuf': ['opentelemetry.ts', 'proto'],
  'opentelemetry-grpc': ['opentelemetry.ts', 'grpc'],
  langwatch: ['langwatch.ts'],
  openinference: ['openinference.ts'],
  'vercel-ai': ['vercel-ai.ts'],
} as const satisfies Record<string, readonly string[]>;

export type ClientName = keyof typeof CLIENTS;
export const CLIENT_NAMES = Object.keys(CLIENTS) as ClientName[];

export type Destination = {
  /** Base address of the OTLP receiver. */
  readonly address: string;
  readonly key: string;
  /** Address of the provider of models. */
  readonly openAiUrl: string;
};

const TIMEOUT_MS = 60_000;

/** Runs a client; returns the id of the trace it sent. */
export async function runClient(name: ClientName, to: Destination): Promise<string> {
  const [script, ...args] = CLIENTS[name];
  const path = new URL(`./clients/${script}`, import.meta.url).pathname;
  return runScript([path, ...args], to);
}

/** Runs a script with the environment that users set; returns its output. */
export async function runScript(args: readonly string[], { address, key, openAiUrl }: Destination): Promise<string> {
  const isGrpc = args.includes('grpc');
  // Stack traces would contain local paths.
  const options = ['--stack-trace-limit=0', '--disable-warning=ExperimentalWarning'];
  const { stdout } = await promisify(execFile)(process.execPath, [...options, ...args], {
    timeout: TIMEOUT_MS,
    env: {
      PATH: process.env.PATH,
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
      OTEL_EXPORTER_OTLP_ENDPOINT: isGrpc ? address : `${address}/api/otel`,
      OTEL_EXPORTER_OTLP_HEADERS: `authorization=Bearer ${key}`,
      OTEL_NODE_RESOURCE_DETECTORS: 'none',
      LANGWATCH_ENDPOINT: address,
      LANGWATCH_API_KEY: key,
      OPENAI_BASE_URL: `${openAiUrl}/v1`,
      OPENAI_API_KEY: 'of-the-provider',
    },
  });
  return stdout.trim().split('\n').at(-1) ?? '';
}
