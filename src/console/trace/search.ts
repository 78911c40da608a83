/** The search parameters of the trace page. */

export type TraceSearch = {
  /** The id of the chosen span. */
  readonly span?: string;
  readonly view?: 'tree';
};

export function readTraceSearch(raw: Record<string, unknown>): TraceSearch {
  const { span, view } = raw;
  return {
    ...((typeof span === 'string' || typeof span === 'number') && { span: String(span) }),
    ...(view === 'tree' && { view }),
  };
}
