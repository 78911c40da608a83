import { expect, it } from 'vitest';
import { openStore } from '../../src/storage/open.ts';
import { createPostgresPlace } from '../support/place.ts';
import { query } from '../support/postgres-databases.ts';
import { bareSpan, sampleAppend } from './conformance/samples.ts';
import { findStored } from './conformance/trace-reading.ts';
import { quietLog } from './quiet-log.ts';

const ROW = `project_number, trace_id, sequence, inserted_at, updated_at, span_count, started_at, duration_ms,
  first_token_ms, prompt_tokens, completion_tokens, reasoning_tokens, cache_read_input_tokens,
  cache_creation_input_tokens, total_cost_nano_usd, unpriced_spans, tokens_estimated, has_error, metadata, expected_output`;
/** As a process of the version before changes a trace. */
const APPEND_AS_BEFORE = `SELECT append_batch(new_traces => '{}', changed_traces => ARRAY(SELECT ROW(${ROW})::trace_row FROM traces),
  new_spans => '{}', changed_spans => '{}', stored_evaluations => '{}', new_requests => '{}', changed_requests => '{}',
  new_events => '{}', heads => '{}')`;

it('a process of the version before leaves no aggregates of a trace that it changes, and the next append computes them', async () => {
  const place = await createPostgresPlace();
  const store = await openStore({ url: place.url, queueMaxBytes: 64 * 1024 * 1024, log: quietLog });
  try {
    const spans = Array.from({ length: 300 }, () => bareSpan({ parentId: 'root' }));
    const append = sampleAppend({ spans, requests: [], receivedAtMs: Date.now() });
    await store.traces.append(append);
    const read = async () => await findStored(store.traces, append.traceId);
    expect((await read()).aggregatesJson).not.toBeNull();
    await query(place.url, APPEND_AS_BEFORE);
    expect((await read()).aggregatesJson).toBeNull();
    await store.traces.append({ ...append, spans: [bareSpan({ spanId: 'root', name: 'the root', startedAtMs: 1 })] });
    expect(JSON.parse((await read()).aggregatesJson ?? '')).toMatchObject({
      root: { spanId: 'root', name: 'the root' },
    });
    expect(await read()).toMatchObject({ spanCount: 301 });
  } finally {
    await store.close();
    await place.remove();
  }
});
