/** The search parameters of the trace page. */

import { oneOf, readerOf, text } from '../layout/search.ts';

export const readTraceSearch = readerOf({
  /** The id of the chosen span. */
  span: text,
  view: oneOf('tree'),
});

export type TraceSearch = ReturnType<typeof readTraceSearch>;
