import { describe, expect, it } from 'vitest';
import { inputsToStore, type Origins } from '../../../src/domain/evaluations/result-inputs.ts';
import { runWithoutPauses } from '../../../src/domain/steps.ts';
import { createShowEvaluation } from '../../../src/domain/traces/shown-inputs.ts';
import type { Span } from '../../../src/domain/traces/trace.ts';
import { bareSpan, sampleEvaluation } from '../../storage/conformance/samples.ts';

type Subject = {
  readonly stored?: readonly Span[];
  readonly loaded?: readonly Span[];
  readonly maxBytes?: number;
  readonly expectedOutput?: string | null;
  readonly metadataJson?: string;
};

/** Shows evaluations of a trace, and counts what is read and answered. */
function subject({ stored = [], loaded = [], maxBytes = 1e6, expectedOutput = null, metadataJson = '{}' }: Subject) {
  const counts = { reads: 0, bytes: 0 };
  const show = createShowEvaluation(
    {
      store: {
        spans: async (_, ids) => {
          counts.reads += 1;
          return stored.filter(({ spanId }) => ids.includes(spanId));
        },
        spanIdsOfType: async (_, { type }) => {
          counts.reads += 1;
          return stored.filter((span) => span.type === type).map(({ spanId }) => spanId);
        },
      },
      runCooperatively: async (steps) => runWithoutPauses(steps),
    },
    {
      trace: { projectNumber: 1, sequence: 1, spanCount: 1, aggregatesJson: null, expectedOutput, metadataJson },
      listSpans: () => loaded,
      maxBytes,
      countResponseBytes: (bytes) => {
        counts.bytes += bytes;
      },
    },
  );
  return { show, counts };
}

const textJson = (value: string) => JSON.stringify({ type: 'text', value });
const spanWith = (spanId: string, output: string, changes: Partial<Span> = {}) =>
  bareSpan({ spanId, outputJson: textJson(output), ...changes });
const ofSpan = (spanId: string): Origins => ({ output: { spanId, name: 'output' } });

function resultOn(data: Parameters<typeof inputsToStore>[0], origins: Origins) {
  return sampleEvaluation({ inputsJson: inputsToStore(data, origins) });
}

async function shownOf({ show }: ReturnType<typeof subject>, result: ReturnType<typeof sampleEvaluation>) {
  const { shownInputsJson } = await show(result);
  return JSON.parse(shownInputsJson ?? 'null');
}

const LONG = 'long '.repeat(200);

describe('the inputs of results, shown', () => {
  it('read nothing without a reference, and stay as they are stored', async () => {
    const each = subject({ stored: [spanWith('s1', LONG)] });
    for (const inputsJson of [null, '{"output":"x"}', '"text"', '[1]', JSON.stringify({ output: LONG })]) {
      expect((await each.show(sampleEvaluation({ inputsJson }))).shownInputsJson).toBe(inputsJson);
    }
    expect(each.counts).toEqual({ reads: 0, bytes: 0 });
  });

  it('are the text of the span, read once for all results, and not at all when it is loaded', async () => {
    const result = resultOn({ input: 'q', output: LONG }, ofSpan('s1'));
    const stored = subject({ stored: [spanWith('s1', LONG)] });
    const loaded = subject({ loaded: [spanWith('s1', LONG)] });
    for (const each of [stored, stored, loaded, loaded]) {
      expect(await shownOf(each, result)).toEqual({ input: 'q', output: LONG });
    }
    expect([stored.counts.reads, loaded.counts.reads]).toEqual([1, 0]);
    expect(loaded.counts.bytes).toBe(2 * (LONG.length + 2));
  });

  it('are the texts of the trace: its contexts, expected output and metadata', async () => {
    const contexts = [LONG, 'short'];
    const contextsJson = JSON.stringify(contexts.map((content) => ({ document_id: 'd', chunk_id: null, content })));
    const rag = spanWith('r1', 'x', { type: 'rag', contextsJson });
    const each = subject({
      stored: [rag],
      expectedOutput: LONG,
      metadataJson: JSON.stringify({ note: `${LONG}!` }),
    });
    const data = { contexts, expected_output: LONG, input: `${LONG}!` };
    const result = resultOn(data, {
      contexts: { spanId: null, name: 'contexts' },
      expected_output: { spanId: null, name: 'expected_output' },
      input: { spanId: null, name: 'metadata.note' },
    });
    expect(await shownOf(each, result)).toEqual(data);
    const ofRag = resultOn({ contexts }, { contexts: { spanId: 'r1', name: 'contexts' } });
    expect(await shownOf(each, ofRag)).toEqual({ contexts });
  });

  it('are the excerpt with the hash once the text has changed, or the span or the trace text is gone', async () => {
    const excerpt = /^long .*…\[truncated: 1000 bytes\] \[sha256 [0-9a-f]{64}\]$/;
    for (const each of [subject({ stored: [spanWith('s1', `${LONG}!`)] }), subject({})]) {
      expect((await shownOf(each, resultOn({ output: LONG }, ofSpan('s1')))).output).toMatch(excerpt);
    }
    for (const name of ['expected_output', 'contexts', 'metadata.note', 'nonsense']) {
      const result = resultOn({ output: LONG }, { output: { spanId: null, name } });
      expect((await shownOf(subject({}), result)).output).toMatch(excerpt);
    }
  });

  it('are excerpts beyond the room of the answer, while shorter texts still fit', async () => {
    const each = subject({ stored: [spanWith('s1', LONG), spanWith('s2', LONG.slice(0, 600))], maxBytes: 1700 });
    const areWhole: boolean[] = [];
    for (const id of ['s1', 's1', 's2', 's2']) {
      const text = id === 's1' ? LONG : LONG.slice(0, 600);
      areWhole.push((await shownOf(each, resultOn({ output: text }, ofSpan(id)))).output === text);
    }
    expect(areWhole).toEqual([true, false, true, false]);
    expect(each.counts.bytes).toBeLessThan(1700 + 2 * 1100);
  });

  it('read no text that has no room, and at most sixteen spans that are not loaded', async () => {
    const tight = subject({ stored: [spanWith('s1', LONG)], maxBytes: 999 });
    await shownOf(tight, resultOn({ output: LONG }, ofSpan('s1')));
    expect(tight.counts).toEqual({ reads: 0, bytes: 0 });
    const spans = Array.from({ length: 40 }, (_, index) => spanWith(`s${index}`, LONG));
    const each = subject({ stored: spans });
    let whole = 0;
    for (const { spanId } of spans) {
      if ((await shownOf(each, resultOn({ output: LONG }, ofSpan(spanId)))).output === LONG) whole += 1;
    }
    expect([whole, each.counts.reads]).toEqual([16, 16]);
  });

  it('read no further span after eight million characters of spans, whatever their judged texts take', async () => {
    const spans = Array.from({ length: 6 }, (_, index) =>
      spanWith(`s${index}`, LONG, { paramsJson: JSON.stringify({ text: 'x'.repeat(3_000_000) }) }),
    );
    const each = subject({ stored: spans });
    for (const { spanId } of spans) await shownOf(each, resultOn({ output: LONG }, ofSpan(spanId)));
    expect(each.counts.reads).toBe(3);
  });
});
