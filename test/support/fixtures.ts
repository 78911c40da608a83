import { randomBytes } from 'node:crypto';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { SpanType } from '../../gen/spandrel/v1/traces_pb.js';
import { newId } from '../../src/domain/ids.ts';
import type { Binding } from '../../src/domain/keys/permissions.ts';
import { hashSecret, mintApiKey } from '../../src/domain/secrets.ts';
import type { TestApp } from './app.ts';
import { insertKey } from './insert-key.ts';

export function hex(characters: number): string {
  return randomBytes(characters / 2).toString('hex');
}

/** The trace of the interface document: gpt-5, 100 + 150 tokens, first token after 300 ms. */
export function llmTrace(startedAtMs: number, traceId = hex(32), spanId = hex(16)) {
  return {
    trace_id: traceId,
    spans: [
      {
        type: 'llm',
        span_id: spanId,
        vendor: 'openai',
        model: 'gpt-5',
        input: {
          type: 'chat_messages',
          value: [
            { role: 'system', content: 'You are terse.' },
            { role: 'user', content: 'Say hi.' },
          ],
        },
        output: {
          type: 'chat_messages',
          value: [{ role: 'assistant', content: 'Hi.', function_call: null, tool_calls: [] }],
        },
        params: { temperature: 0.7, stream: true },
        metrics: { prompt_tokens: 100, completion_tokens: 150 },
        timestamps: {
          started_at: startedAtMs,
          first_token_at: startedAtMs + 300,
          finished_at: startedAtMs + 1200,
        },
      },
    ],
    metadata: { user_id: 'user-1', thread_id: 'thread-1', customer_id: 'customer-1', labels: ['greeting', 'v2'] },
  };
}

/** The CollectTraceRequest equal to a collector body. */
export function asMessage(body: ReturnType<typeof llmTrace>) {
  return {
    traceId: body.trace_id,
    metadataJson: JSON.stringify(body.metadata),
    spans: body.spans.map((span) => ({
      spanId: span.span_id,
      type: SpanType.LLM,
      vendor: span.vendor,
      model: span.model,
      input: { type: span.input.type, valueJson: JSON.stringify(span.input.value) },
      output: { type: span.output.type, valueJson: JSON.stringify(span.output.value) },
      paramsJson: JSON.stringify(span.params),
      metrics: {
        promptTokens: BigInt(span.metrics.prompt_tokens),
        completionTokens: BigInt(span.metrics.completion_tokens),
      },
      timestamps: {
        startedAt: timestampFromMs(span.timestamps.started_at),
        firstTokenAt: timestampFromMs(span.timestamps.first_token_at),
        finishedAt: timestampFromMs(span.timestamps.finished_at),
      },
    })),
  };
}

export type KeyWishes = {
  readonly bindings: readonly Binding[];
  readonly keyType?: 'personal' | 'service';
  readonly expiresAtMs?: number | null;
};

/** Stores another API key and returns its token. */
export async function addKey(
  app: TestApp,
  { bindings, keyType = 'service', expiresAtMs = null }: KeyWishes,
): Promise<string> {
  const minted = mintApiKey('sk-lw-', randomBytes);
  await insertKey(app.store, {
    id: minted.keyId,
    organizationId: app.organizationId,
    keyType,
    name: 'test key',
    userId: keyType === 'personal' ? app.userId : null,
    createdByUserId: null,
    permissionMode: bindings.some((binding) => binding.role === 'CUSTOM') ? 'restricted' : 'all',
    secretHash: hashSecret(app.rootKeys.pepper, minted.secret),
    imported: false,
    expiresAtMs,
    createdAtMs: Date.now(),
    bindings: bindings.map((binding) => ({ ...binding, id: newId('rolebinding', randomBytes) })),
  });
  return minted.token;
}

/** A binding of a restricted key. */
export function custom(scopeType: Binding['scopeType'], scopeId: string, permissions: readonly string[]): Binding {
  return { role: 'CUSTOM', scopeType, scopeId, permissions };
}
