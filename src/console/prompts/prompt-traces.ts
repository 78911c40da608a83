import { writeQueryLine } from '../traces/query-line.ts';
import type { TraceListSearch } from '../traces/search.ts';

/** Finds the traces whose spans name the prompt, by whichever of its names. */
export function tracesOf(promptId: string): TraceListSearch {
  return { q: writeQueryLine({ text: '', filters: [{ name: 'prompt', value: promptId }] }) };
}
