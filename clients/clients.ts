/** The clients, each with the program that uses it and the package whose version names its recording. */

import { PROJECT_KEY } from '../test/support/server.ts';

export type Client = {
  readonly package: string;
  /** A file of this folder and its arguments. */
  readonly program: readonly [file: string, ...args: string[]];
};

export const CLIENTS = {
  opentelemetry: { package: '@opentelemetry/sdk-node', program: ['programs/opentelemetry.js'] },
  'ai-sdk-openai': { package: 'ai', program: ['programs/ai-sdk.js', 'openai'] },
  'ai-sdk-anthropic': { package: 'ai', program: ['programs/ai-sdk.js', 'anthropic'] },
  'openinference-openai': {
    package: '@arizeai/openinference-instrumentation-openai',
    program: ['programs/openinference.js', 'openai'],
  },
  'openinference-anthropic': {
    package: '@arizeai/openinference-instrumentation-anthropic',
    program: ['programs/openinference.js', 'anthropic'],
  },
  'instrumentation-openai': {
    package: '@opentelemetry/instrumentation-openai',
    program: ['earlier/instrumentation-openai.js'],
  },
  'openllmetry-openai': { package: '@traceloop/node-server-sdk', program: ['programs/openllmetry.js'] },
  'openllmetry-anthropic': { package: '@traceloop/node-server-sdk', program: ['earlier/openllmetry-anthropic.js'] },
  'anthropic-sdk': { package: '@anthropic-ai/sdk', program: ['programs/anthropic-sdk.js'] },
  langfuse: { package: '@langfuse/otel', program: ['programs/langfuse.js'] },
  langsmith: { package: 'langsmith', program: ['programs/langsmith.js'] },
  mastra: { package: '@mastra/otel-exporter', program: ['programs/mastra.js'] },
  'openinference-langchain': {
    package: '@arizeai/openinference-instrumentation-langchain',
    program: ['programs/langchain.js'],
  },
  'openinference-openai-agents': {
    package: '@arizeai/openinference-instrumentation-openai-agents',
    program: ['programs/openai-agents.js'],
  },
  langwatch: { package: 'langwatch', program: ['programs/langwatch.js'] },
} as const satisfies { readonly [name: string]: Client };

export type ClientName = keyof typeof CLIENTS;

/** What users set, with the addresses of a server and of a provider of models. */
export function environmentOf(server: string, provider: string): NodeJS.ProcessEnv {
  return {
    PATH: process.env.PATH,
    OTEL_EXPORTER_OTLP_ENDPOINT: `${server}/api/otel`,
    OTEL_EXPORTER_OTLP_HEADERS: `authorization=Bearer ${PROJECT_KEY}`,
    OTEL_NODE_RESOURCE_DETECTORS: 'none',
    LANGWATCH_ENDPOINT: server,
    LANGWATCH_API_KEY: PROJECT_KEY,
    LANGFUSE_BASE_URL: server,
    LANGFUSE_PUBLIC_KEY: 'spandrel',
    LANGFUSE_SECRET_KEY: PROJECT_KEY,
    LANGSMITH_TRACING: 'true',
    LANGSMITH_TRACING_MODE: 'otel',
    LANGSMITH_OTEL_ENABLED: 'true',
    LANGSMITH_API_KEY: PROJECT_KEY,
    TRACELOOP_TELEMETRY: 'false',
    MASTRA_TELEMETRY_DISABLED: '1',
    OPENAI_BASE_URL: `${provider}/v1`,
    OPENAI_API_KEY: 'of-the-provider',
    ANTHROPIC_BASE_URL: provider,
    ANTHROPIC_API_KEY: 'of-the-provider',
  };
}
