/** The replay of a thread: of each trace only what was not said before. */

import type { Trace } from '../../../gen/spandrel/v1/traces_pb.js';
import { kindOf, textOfTurn } from '../compare/align-turns.ts';
import { createRunReader } from '../trace/conversation-run.ts';
import type { Turn } from '../trace/conversation-turns.ts';

export type Replayed = { readonly trace: Trace; readonly turns: readonly Turn[] };

/** Traces that were replayed before are not read again when more have loaded. */
export function createReplay() {
  const known = new Map<Trace, readonly Turn[]>();
  const turnsOf = (trace: Trace): readonly Turn[] => {
    const found = known.get(trace);
    if (found !== undefined) return found;
    const { traceId } = trace;
    const turns = createRunReader()(trace, trace.spans).map((turn) => ({ ...turn, key: `${traceId}/${turn.key}` }));
    known.set(trace, turns);
    return turns;
  };
  return (traces: readonly Trace[]): readonly Replayed[] => {
    const said: string[] = [];
    return traces.map((trace) => {
      const turns = withoutHistory(turnsOf(trace), said);
      said.push(...turns.map(contentOf));
      return { trace, turns };
    });
  };
}

/**
 * An application repeats what was said with each call of a model. It ends before the last question, which is new even where it
 * is the same as an earlier one.
 */
export function withoutHistory(turns: readonly Turn[], said: readonly string[]): readonly Turn[] {
  const last = turns.findLastIndex((turn) => turn.kind === 'message' && turn.role === 'user');
  let [repeated, from] = [0, 0];
  for (const turn of turns.slice(0, Math.max(0, last))) {
    const at = said.indexOf(contentOf(turn), from);
    if (at < 0) break;
    repeated += 1;
    from = at + 1;
  }
  return turns.slice(repeated);
}

function contentOf(turn: Turn): string {
  return `${kindOf(turn)}\n${textOfTurn(turn)}`;
}
