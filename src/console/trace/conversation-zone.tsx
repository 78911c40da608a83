/** What was said in the chosen span; the whole run as one dialogue when none is chosen. */

import { useCallback, useEffect, useMemo } from 'react';
import type { Trace, TraceSpan } from '../../../gen/spandrel/v1/traces_pb.js';
import page from '../design/page.module.css';
import { TurnList } from './conversation-list.tsx';
import { createRunReader, turnsOfSpan } from './conversation-run.ts';
import { deepestFailure } from './failures.ts';

export type ZoneProps = {
  readonly trace: Trace;
  /** Those that are loaded; more may follow. */
  readonly spans: readonly TraceSpan[];
  readonly chosen: TraceSpan | null;
  readonly onChoose: (span: TraceSpan | null) => void;
};

export function ConversationZone(props: ZoneProps) {
  const { trace, chosen } = props;
  useFailureFirst(props);
  if (chosen) return <SpanConversation key={chosen.spanId} span={chosen} />;
  return <RunConversation key={trace.traceId} {...props} />;
}

function RunConversation({ trace, spans, onChoose }: ZoneProps) {
  const read = useMemo(() => createRunReader(), []);
  const turns = useMemo(() => read(trace, spans), [read, trace, spans]);
  const open = useCallback(
    (spanId: string) => onChoose(spans.find((span) => span.spanId === spanId) ?? null),
    [spans, onChoose],
  );
  if (turns.length === 0) return <p className={page.soft}>Nothing was said in this trace.</p>;
  return <TurnList turns={turns} title="Conversation" onOpen={open} />;
}

function SpanConversation({ span }: { readonly span: TraceSpan }) {
  const turns = useMemo(() => turnsOfSpan(span), [span]);
  if (turns.length === 0) return <p className={page.soft}>This span has no input and no output.</p>;
  return <TurnList turns={turns} title="Input and output" onOpen={null} />;
}

/** The trace that was opened last: which zones of a page exist depends on its width, and each may come and go. */
let opened: string | null = null;

/** Opens a failed trace at the span where it failed, once and only if no span is chosen. */
export function useFailureFirst({ trace, spans, chosen, onChoose }: ZoneProps): void {
  useEffect(() => {
    if (opened === trace.traceId) return;
    const isComplete = BigInt(spans.length) >= trace.spanCount;
    if (chosen === null && !isComplete) return;
    opened = trace.traceId;
    const failure = chosen === null && trace.error ? deepestFailure(trace, spans) : null;
    if (failure !== null) onChoose(failure);
  }, [trace, spans, chosen, onChoose]);
}
