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
  /** Base address of the stand-in for the OpenAI API. */
  readonly openAiUrl: string;
};

const TIMEOUT_MS = 60_000;

/** The id of the trace that the client says it has sent. */
export async function runClient(name: ClientName, to: Destination): Promise<string> {
  const [script, ...args] = CLIENTS[name];
  const path = new URL(`./clients/${script}`, import.meta.url).pathname;
  return runScript([path, ...args], to);
}

/** Runs any script with the settings that its user would have in the environment; answers what it prints. */
export async function runScript(args: readonly string[], { address, key, openAiUrl }: Destination): Promise<string> {
  const isGrpc = args.includes('grpc');
  // Stack traces would name the folders of this machine.
  const options = ['--stack-trace-limit=0', '--disable-warning=ExperimentalWarning'];
  const { stdout } = await promisify(execFile)(process.execPath, [...options, ...args], {
    timeout: TIMEOUT_MS,
    env: {
      PATH: process.env.PATH,
      OTEL_EXPORTER_OTLP_ENDPOINT: isGrpc ? address : `${address}/api/otel`,
      OTEL_EXPORTER_OTLP_HEADERS: `authorization=Bearer ${key}`,
      OTEL_NODE_RESOURCE_DETECTORS: 'none',
      LANGWATCH_ENDPOINT: address,
      LANGWATCH_API_KEY: key,
      OPENAI_BASE_URL: openAiUrl,
      OPENAI_API_KEY: 'of-the-stand-in',
    },
  });
  return stdout.trim().split('\n').at(-1) ?? '';
}
