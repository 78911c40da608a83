/** Traces that are expensive to read. */

import type { Target } from './attack-target.ts';

const POST_MAX_BYTES = 8 * 1024 * 1024;

export type SpanWish = {
  readonly parentId?: string;
  readonly input?: string;
  readonly output?: string;
  readonly error?: string;
};

export type StoredTrace = { readonly traceId: string; readonly spans: number };

/** Stores a trace in posts of at most 10,000 spans and 8 MiB. */
export async function storeTrace(
  target: Target,
  { traceId, spans, wish }: StoredTrace & { readonly wish: (index: number) => SpanWish },
): Promise<void> {
  let texts: string[] = [];
  let bytes = 0;
  const flush = async () => {
    const body = `{"trace_id":"${traceId}","spans":[${texts.join(',')}]}`;
    const headers = { 'x-auth-token': target.key, 'content-type': 'application/json' };
    const answer = await fetch(`${target.address}/api/collector`, { method: 'POST', headers, body });
    const text = await answer.text();
    if (answer.status !== 200) throw new Error(`a part of the trace was answered ${answer.status}: ${text}`);
    texts = [];
    bytes = 0;
  };
  for (let index = 0; index < spans; index += 1) {
    const text = spanText(index, wish(index));
    if (texts.length === 10_000 || bytes + text.length > POST_MAX_BYTES) await flush();
    texts.push(text);
    bytes += text.length;
  }
  await flush();
}

export function spanText(index: number, { parentId, input, output, error }: SpanWish): string {
  const startedAtMs = Date.now() - 60_000 + index;
  const text = (value: string | undefined) => (value === undefined ? null : { type: 'text', value });
  return JSON.stringify({
    span_id: `s${index}`,
    parent_id: parentId ?? null,
    type: 'span',
    input: text(input),
    output: text(output),
    error: error === undefined ? null : { message: error },
    timestamps: { started_at: startedAtMs, finished_at: startedAtMs + 5 },
  });
}

/** With 30 MiB of text. */
export async function storeHeavyTrace(target: Target): Promise<string> {
  const traceId = 'heavy';
  const input = 'x'.repeat(480 * 1024);
  await storeTrace(target, { traceId, spans: 64, wish: () => ({ input }) });
  return traceId;
}
