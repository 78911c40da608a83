/** What the traces of a client say, as one row of the table. */

/** null: nothing is read. */
export type Row = {
  /** Types of all spans, sorted: spans that begin in one millisecond come in any order. */
  readonly types: string;
  readonly vendor: string | null;
  readonly model: string | null;
  readonly input: string | null;
  readonly output: string | null;
  readonly toolCalls: string | null;
  /** Prompt and completion. */
  readonly tokens: string | null;
  readonly cached: number | null;
  readonly reasoning: number | null;
  readonly cost: number | null;
  /** How many spans tell when their first token came. */
  readonly firstTokens: number;
  readonly user: string | null;
  readonly thread: string | null;
  /** Names of further members. */
  readonly metadata: string | null;
  /** Messages of all spans, each once, sorted. */
  readonly error: string | null;
};

export type ReadTrace = {
  readonly input: { readonly value: unknown } | null;
  readonly output: { readonly value: unknown } | null;
  readonly metadata: { readonly [name: string]: unknown };
  readonly metrics: { readonly [name: string]: unknown };
  readonly models: readonly string[];
  readonly spans: readonly ReadSpan[];
};

type ReadSpan = {
  readonly type: string;
  readonly vendor: string | null;
  readonly output: { readonly type: string; readonly value: unknown } | null;
  readonly metrics: { readonly [name: string]: unknown } | null;
  readonly timestamps: { readonly first_token_at: number | null };
  readonly error: { readonly message: string } | null;
};

/** A client that has no root span sends several traces: a row is about all of them, oldest first. */
export function rowOf(traces: readonly ReadTrace[]): Row {
  const spans = traces.flatMap((trace) => trace.spans);
  const total = (name: string) => sumOf(traces.map(({ metrics }) => metrics[name]));
  const [prompt, completion] = [total('prompt_tokens'), total('completion_tokens')];
  const cost = total('total_cost');
  return {
    types: spans
      .map(({ type }) => type)
      .toSorted()
      .join(' '),
    model: listOf(traces.flatMap(({ models }) => models).toSorted()),
    vendor: listOf(spans.map(({ vendor }) => vendor)),
    input: textOf(traces[0]?.input),
    output: textOf(traces.findLast(({ output }) => textOf(output) !== null)?.output),
    toolCalls: listOf(spans.flatMap(callsIn)),
    tokens: prompt === null && completion === null ? null : `${prompt}/${completion}`,
    cached: total('cache_read_input_tokens'),
    reasoning: total('reasoning_tokens'),
    // Sums of several traces are those of fractions.
    cost: cost === null ? null : Number(cost.toFixed(9)),
    firstTokens: spans.filter(({ timestamps }) => timestamps.first_token_at !== null).length,
    user: listOf(traces.map(({ metadata }) => metadata.user_id)),
    thread: listOf(traces.map(({ metadata }) => metadata.thread_id)),
    metadata: listOf(
      traces.flatMap(({ metadata }) => Object.keys(metadata).filter((name) => !IDENTITY.has(name))).toSorted(),
    ),
    error: listOf(spans.map(({ error }) => error?.message).toSorted()),
  };
}

const IDENTITY = new Set(['user_id', 'thread_id']);

function sumOf(values: readonly unknown[]): number | null {
  const figures = values.filter((value) => typeof value === 'number');
  return figures.length === 0 ? null : figures.reduce((sum, figure) => sum + figure, 0);
}

/** Each of them once. */
function listOf(values: readonly unknown[]): string | null {
  const texts = new Set(values.filter((value) => typeof value === 'string'));
  return texts.size === 0 ? null : [...texts].join(', ');
}

function textOf(typed: ReadTrace['input'] | undefined): string | null {
  const value = typed?.value ?? '';
  if (value === '') return null;
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function callsIn({ output }: ReadSpan): readonly string[] {
  if (output?.type !== 'chat_messages' || !Array.isArray(output.value)) return [];
  return output.value.flatMap(({ tool_calls: calls = [] }) =>
    calls.map((call: { readonly function: { readonly name: string; readonly arguments: unknown } }) => {
      const { name, arguments: given } = call.function;
      return `${name}(${typeof given === 'string' ? given : JSON.stringify(given)})`;
    }),
  );
}
